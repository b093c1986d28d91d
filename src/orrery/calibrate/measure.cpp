// Timing: see measure.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/calibrate/measure.h"

#include <algorithm>

#include "orrery/calibrate/fit.h"
#include "orrery/calibrate/kernels.h"

namespace orrery::calibrate {

Result<double> median_time(Gpu& gpu, std::span<const Work> works, int repeats, How how) {
  std::vector<double> seconds;
  for (int i = 0; i <= kSamples; ++i) {
    ORR_TRY(const double once, gpu.time(works, repeats, how));
    if (i > 0) seconds.push_back(once);
  }
  return median(std::move(seconds));
}

Result<double> median_time(Gpu& gpu, const Work& work, int repeats) {
  return median_time(gpu, {&work, 1}, repeats, How::Stream);
}

Result<double> kernel_time(Gpu& gpu, const std::vector<Work>& turns, const Row& row) {
  constexpr int kReplays = 10;
  const int64_t lengths[2] = {std::max<int64_t>(1, row.length / 4), row.length};
  double seconds[2] = {};
  for (int k = 0; k < 2; ++k) {
    std::vector<Work> works = row.before;
    for (int64_t i = 0; i < lengths[k]; ++i) {
      works.push_back(turns[static_cast<size_t>(i) % turns.size()]);
      works.back().a += i * row.step;
      works.back().b += i * row.step;
    }
    ORR_TRY(seconds[k], median_time(gpu, works, kReplays, row.how));
  }
  return (seconds[1] - seconds[0]) / static_cast<double>(lengths[1] - lengths[0]);
}

Result<double> median_clocks(Gpu& gpu, const Work& work) {
  std::vector<double> clocks;
  for (int i = 0; i <= kSamples; ++i) {
    ORR_TRY_VOID(gpu.time({&work, 1}, 1, How::Stream));
    ORR_TRY(const std::vector<uint64_t> out, gpu.output(1));
    if (i > 0) clocks.push_back(static_cast<double>(out[0]));
  }
  return median(std::move(clocks));
}

Result<double> last_clock(Gpu& gpu) {
  ORR_TRY(const std::vector<uint64_t> out, gpu.output(2));
  if (out[1] == 0) {
    return make_error(ErrorCode::IoError,
                      "[calibrate.measure] the GPU's timer: got 0 ns for {} clocks, need more",
                      out[0]);
  }
  return static_cast<double>(out[0]) / static_cast<double>(out[1]) * 1e9;
}

Result<void> fill(Gpu& gpu, DType type) {
  const Work work{.kernel = &kernel(fill_name(type)), .grid = gpu.facts().sms * 8, .block = 256};
  ORR_TRY_VOID(gpu.time({&work, 1}, 1, How::Stream));
  return {};
}

double hertz(const Gpu& gpu) {
  return static_cast<double>(gpu.facts().clock_khz) * 1e3;
}

}  // namespace orrery::calibrate
