// The copy engine: bulk copies into shared memory, alone and for a cluster.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/calibrate/benchmark.h"
#include "orrery/calibrate/kernels.h"
#include "orrery/calibrate/measure.h"

namespace orrery::calibrate {
namespace {

/// Clocks of a batch of copies that are all in flight at once, with the wait for them.
Result<double> batch_clocks(Gpu& gpu, int64_t grid, int64_t bytes, int64_t flight) {
  constexpr int64_t kBatches = 100;
  ORR_TRY(const double clocks,
          median_clocks(gpu,
                        {.kernel = &kernel("bulk"),
                         .grid = grid,
                         .block = 32,
                         .shared = bytes * flight,
                         .a = kBatches * flight,
                         .b = bytes,
                         .c = flight}));
  return clocks / kBatches;
}

/// Clocks of one copy more in a batch.
Result<double> copy_clocks(Gpu& gpu, int64_t grid, int64_t bytes, int64_t few, int64_t many) {
  ORR_TRY(const double some, batch_clocks(gpu, grid, bytes, few));
  ORR_TRY(const double more, batch_clocks(gpu, grid, bytes, many));
  return (more - some) / static_cast<double>(many - few);
}

Result<double> multicast_gain(Gpu& gpu) {
  double clocks[2] = {};
  for (const int64_t shared : {0, 1}) {
    ORR_TRY(clocks[shared],
            median_clocks(gpu,
                          {.kernel = &kernel("multicast"),
                           .grid = gpu.facts().sms / 2 * 2,
                           .block = 128,
                           .shared = int64_t{4} * 32768,
                           .a = 500,
                           .b = 32768,
                           .c = shared,
                           .cluster = 2}));
  }
  return clocks[0] / clocks[1];
}

}  // namespace

Result<Findings> measure_copy_engine(Gpu& gpu, const machine::Chip& /*like*/) {
  constexpr int64_t kWide = 8192;
  ORR_TRY(const double latency, batch_clocks(gpu, 1, 128, 1));
  ORR_TRY(const double issue, copy_clocks(gpu, 1, 128, 32, 96));
  ORR_TRY(const double one, copy_clocks(gpu, 1, kWide, 6, 24));
  ORR_TRY(const double all, copy_clocks(gpu, gpu.facts().sms, kWide, 6, 24));
  ORR_TRY(const double gain, multicast_gain(gpu));
  return Findings{
      {"report.copy_latency", latency, "clk", "bulk copy of 128 bytes from L2, alone"},
      {"report.copy_interval", issue, "clk", "bulk copies of 128 bytes, one more in flight"},
      {"report.copy_rate_one", kWide / one, "B/clk", "bulk copies of 8 KiB, one SM"},
      {"report.copy_rate_all", kWide / all, "B/clk", "the same, of an SM where all copy"},
      {"report.multicast_gain",
       gain,
       "1",
       "pairs of blocks that need the same tiles of 32 KiB: each fetches all, or half for both"}};
}

}  // namespace orrery::calibrate
