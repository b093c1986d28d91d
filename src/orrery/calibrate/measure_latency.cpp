// Latencies of memory: one thread follows a chain of pointers.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "orrery/calibrate/benchmark.h"
#include "orrery/calibrate/fit.h"
#include "orrery/calibrate/kernels.h"
#include "orrery/calibrate/measure.h"

namespace orrery::calibrate {
namespace {

/// Clocks of a dependent load in a chain through `bytes`, a line apart or more. The chain's end was
/// touched last if it is `warm`, else something else was.
Result<double> load_clocks(Gpu& gpu, int64_t bytes, bool warm) {
  constexpr int64_t kLoads = 4096, kStride = 256;
  constexpr int64_t kOther = int64_t{1} << 30;  // the other half of the data
  const int64_t grid = gpu.facts().sms;
  const Work chain{
      .kernel = &kernel("chain"), .grid = grid, .block = 512, .a = bytes, .b = kStride};
  const Work flush{.kernel = &kernel("flush"),
                   .grid = grid * 4,
                   .block = 512,
                   .a = warm ? 0 : kOther,
                   .b = warm ? bytes : kOther};
  ORR_TRY_VOID(gpu.time({&chain, 1}, 1, How::Stream));
  std::vector<double> clocks;
  for (int i = 0; i <= kSamples; ++i) {
    const Work works[] = {
        flush, {.kernel = &kernel("chase"), .a = kLoads, .b = bytes / 8 * i / kStride * kStride}};
    ORR_TRY_VOID(gpu.time(works, 1, How::Stream));
    ORR_TRY(const std::vector<uint64_t> out, gpu.output(1));
    if (i > 0) clocks.push_back(static_cast<double>(out[0]) / kLoads);
  }
  return median(std::move(clocks));
}

}  // namespace

Result<Findings> measure_latency(Gpu& gpu, const machine::Chip& /*like*/) {
  Findings found;
  std::vector<Point> hits, misses;
  for (int64_t bytes = int64_t{1} << 19; bytes <= int64_t{1} << 30; bytes *= 2) {
    const bool warm = bytes <= gpu.facts().l2_bytes / 4;
    if (!warm && bytes < 2 * gpu.facts().l2_bytes) continue;
    ORR_TRY(const double clocks, load_clocks(gpu, bytes, warm));
    (warm ? hits : misses).push_back({static_cast<double>(bytes), clocks});
    found.push_back({fmt::format("report.latency_{}_kib", bytes >> 10),
                     clocks,
                     "clk",
                     warm ? "chain of dependent loads in L2" : "the same, none of it in L2"});
  }
  const double far = static_cast<double>(int64_t{1} << 28);
  const double hit = stair(hits, 0, far), miss = stair(misses, 0, far);
  found.push_back({"l2.latency",
                   hit,
                   "clk",
                   "chains of dependent loads through sets that fill up to a quarter of L2"});
  found.push_back({"dram.latency",
                   miss - hit,
                   "clk",
                   "the same through 128 and 256 MiB, not in L2, less the latency of L2"});
  return found;
}

}  // namespace orrery::calibrate
