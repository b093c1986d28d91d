// Power and clock of a GPU as its driver's management library reads them, where there is one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "orrery/calibrate/gpu.h"
#include "orrery/runtime/cuda/dynamic_library.h"

namespace orrery::calibrate {

class Sensors {
 public:
  /// Of the GPU in this PCI slot; none without libnvidia-ml.so.1.
  static std::unique_ptr<const Sensors> open(const std::string& bus_id);

  /// Watts and hertz of the SMs, now; watts of the last second where the board says no other.
  std::optional<Reading> read() const;

 private:
  std::optional<unsigned> instant_milliwatts() const;

  explicit Sensors(runtime::cuda::DynamicLibrary library) : library_(std::move(library)) {}

  runtime::cuda::DynamicLibrary library_;
  void* device_ = nullptr;
  int (*fields_)(void* device, int count, void* fields) = nullptr;  // optional
  int (*power_)(void* device, unsigned* milliwatts) = nullptr;
  int (*clock_)(void* device, int which, unsigned* megahertz) = nullptr;
};

}  // namespace orrery::calibrate
