// Devices: load a kernel program, launch it. The seam between what runs kernels and what asks for
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "orrery/base/result.h"
#include "orrery/kernel/program.h"

namespace orrery::runtime {

/// What one launch works on. Pointers are device addresses, one a tensor of the program in its
/// order, each aligned to 16 bytes; the caller owns the memory. `stream` is the device's stream
/// handle (null: its default stream).
struct Launch {
  std::span<void* const> tensors;
  const kernel::Extents& extents;
  void* stream = nullptr;
};

/// What the compiler made of a kernel.
struct KernelFacts {
  int64_t registers = 0;     // per thread
  int64_t stack_bytes = 0;   // per thread, local memory: 0 unless registers spilled
  int64_t shared_bytes = 0;  // per CTA
  int64_t code_bytes = 0;

  bool operator==(const KernelFacts&) const = default;
};

/// A kernel on a device. Not to be launched from two threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Returns when the launch is queued. Errors: a tensor or extent missing or unfit, the driver's
  /// refusal.
  virtual Result<void> launch(const Launch& launch) = 0;
  virtual const KernelFacts& facts() const = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  /// Emits, compiles (or finds in the cache) and loads. The kernel must not outlive the device.
  virtual Result<std::unique_ptr<Kernel>> load(const kernel::Program& program) = 0;
  /// "NVIDIA H200", or "null"
  virtual std::string_view name() const = 0;
  /// Can launches succeed?
  virtual bool runs() const = 0;
};

}  // namespace orrery::runtime
