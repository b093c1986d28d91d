// What all measurements do: several timings after a warm-up, and their median.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"
#include "orrery/calibrate/gpu.h"

namespace orrery::calibrate {

inline constexpr int kSamples = 7;

/// Median seconds of one repetition of `works`, after one that does not count.
Result<double> median_time(Gpu& gpu, std::span<const Work> works, int repeats, How how);
Result<double> median_time(Gpu& gpu, const Work& work, int repeats);

/// How kernels follow one another.
struct Row {
  How how = How::Graph;
  int64_t length = 200;           // kernels of the long row; the short one has a quarter
  int64_t step = 0;               // bytes by which each touches memory further on than the last
  std::vector<Work> before = {};  // in front of the row
};

/// Median seconds of one kernel more in a row in which `turns` take turns: a long row less a short
/// one.
Result<double> kernel_time(Gpu& gpu, const std::vector<Work>& turns, const Row& row = {});

/// Median of what the kernel wrote first: clocks of its first block.
Result<double> median_clocks(Gpu& gpu, const Work& work);

/// The SM clock in hertz during the last kernel: its clocks over its nanoseconds, the two words it
/// wrote first.
Result<double> last_clock(Gpu& gpu);

/// The fastest SM clock in hertz, as the driver says: light kernels run at it.
double hertz(const Gpu& gpu);

/// Random numbers of a type (bf16, f16, f8e4m3) into all of the data.
Result<void> fill(Gpu& gpu, DType type);

}  // namespace orrery::calibrate
