// The GPU that benchmarks run on: launches of kernels that all have one signature, and their times.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "orrery/base/result.h"

namespace orrery::calibrate {

// Every kernel reads
//
//     extern "C" __global__ void NAME(unsigned char* data, unsigned long long* out,
//                                     long long a, long long b, long long c)
//
// so that a launch is a name and three numbers, and a stand-in needs no GPU. `data` has
// kDataBytes bytes, `out` kOutputWords words.

inline constexpr int64_t kDataBytes = int64_t{1} << 31;
inline constexpr int64_t kOutputWords = int64_t{1} << 17;

struct GpuFacts {
  std::string name;  // "NVIDIA H200"
  int major = 0;     // compute capability
  int minor = 0;
  int64_t sms = 0;
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
  int64_t clock_khz = 0;  // fastest SM clock

  bool operator==(const GpuFacts&) const = default;
};

struct KernelText {
  std::string name;
  std::string code;
  bool hopper = false;  // has instructions of sm_90a alone
};

struct Work {
  const KernelText* kernel = nullptr;
  int64_t grid = 1;
  int64_t block = 1;
  int64_t shared = 0;  // bytes
  int64_t a = 0;
  int64_t b = 0;
  int64_t c = 0;
  int64_t cluster = 1;
  bool programmatic = false;  // may start before the one before it has ended
};

enum class How { Stream, Graph };

/// What the driver's sensors said while a load ran.
struct Reading {
  double seconds = 0;  // since the load was queued
  double watts = 0;
  double hertz = 0;
};

class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual const GpuFacts& facts() const = 0;
  /// Queues all of `works` `repeats` times (a graph: replays of one graph of them) and waits.
  /// Seconds of one repetition by the device's own events, the launch of the first one left out.
  virtual Result<double> time(std::span<const Work> works, int repeats, How how) = 0;
  /// Queues all of `works` and reads the sensors until they are done; none where there are none.
  virtual Result<std::vector<Reading>> watch(std::span<const Work> works) = 0;
  /// The first words of the output.
  virtual Result<std::vector<uint64_t>> output(size_t words) = 0;
  /// Lets the chip cool down.
  virtual void idle(int milliseconds) = 0;
};

/// GPU number 0, with NVRTC and the driver found at run time. Errors: no driver, no NVRTC, no GPU.
Result<std::unique_ptr<Gpu>> open_gpu();

/// "--gpu-architecture=sm_90a" and its like: the compiler's option for a compute capability.
std::string architecture_option(int major, int minor);

}  // namespace orrery::calibrate
