// One SM's pipes: lanes, shared memory, barriers, matrix instructions; and what the driver states.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "orrery/calibrate/benchmark.h"
#include "orrery/calibrate/kernels.h"
#include "orrery/calibrate/measure.h"

namespace orrery::calibrate {
namespace {

/// Clocks of a round: long runs less short ones.
Result<double> round_clocks(Gpu& gpu, const char* name, int64_t threads, int64_t rounds) {
  Work work{.kernel = &kernel(name), .grid = gpu.facts().sms, .block = threads, .a = rounds};
  ORR_TRY(const double few, median_clocks(gpu, work));
  work.a = 3 * rounds;
  ORR_TRY(const double many, median_clocks(gpu, work));
  return (many - few) / (2 * static_cast<double>(rounds));
}

/// FLOP a clock of one SM at a tile of 64 x n a warpgroup.
Result<double> tensor_rate(Gpu& gpu, DType type, int64_t n) {
  const KernelText& text = kernel(wgmma_name(type, n));
  const auto clocks_of = [&](int64_t groups) -> Result<double> {
    return median_clocks(gpu,
                         {.kernel = &text,
                          .grid = gpu.facts().sms,
                          .block = 256,
                          .shared = kStageBytes,
                          .a = groups});
  };
  ORR_TRY(const double few, clocks_of(200));
  ORR_TRY(const double many, clocks_of(1000));
  const double depth = 4 * 32 / element_size(type).value();  // of a group of instructions
  const double flop = 800.0 * 2 * 2 * 64 * static_cast<double>(n) * depth;
  return flop / (many - few);
}

}  // namespace

Result<Findings> measure_chip(Gpu& gpu, const machine::Chip& /*like*/) {
  const GpuFacts& facts = gpu.facts();
  // Light work first: a chip that idled has not come up to its clock.
  const Work light{.kernel = &kernel("spin"), .grid = facts.sms, .block = 128, .a = 2'000'000};
  ORR_TRY_VOID(gpu.time({&light, 1}, 1, How::Stream));
  ORR_TRY_VOID(gpu.time({&light, 1}, 1, How::Stream));
  ORR_TRY(const double clock, last_clock(gpu));
  return Findings{
      {"core.count", static_cast<double>(facts.sms), "1", "the driver's multiprocessor count"},
      {"clock.max", static_cast<double>(facts.clock_khz) / 1e3, "MHz", "the driver's clock rate"},
      {"l2.capacity", static_cast<double>(facts.l2_bytes) / 1e6, "MB", "the driver's L2 size"},
      {"report.clock", clock / 1e6, "MHz", "clocks over nanoseconds of light work, settled"}};
}

Result<Findings> measure_lanes(Gpu& gpu, const machine::Chip& /*like*/) {
  constexpr double kInstructions = 256;  // of a round
  const std::pair<const char*, const char*> kinds[] = {{"lanes_fma", "core.fma_lanes"},
                                                       {"lanes_integer", "core.integer_lanes"},
                                                       {"lanes_special", "core.special_lanes"}};
  Findings found;
  for (const auto& [name, key] : kinds) {
    ORR_TRY(const double clocks, round_clocks(gpu, name, 1024, 200));
    found.push_back({key,
                     1024 * kInstructions / clocks,
                     "1",
                     fmt::format("{}: 8 independent chains a thread, 1024 threads an SM", name)});
  }
  ORR_TRY(const double issue, round_clocks(gpu, "issue", 1024, 200));
  found.push_back(
      {"core.schedulers",
       std::round(1024.0 / 32 * kInstructions / issue),
       "1",
       fmt::format("{:.2f} warp instructions a clock of three fma and one shift in turn",
                   1024.0 / 32 * kInstructions / issue)});
  ORR_TRY(const double dependent, round_clocks(gpu, "dependent", 32, 200));
  found.push_back({"launch.dependent_issue", dependent / 64, "clk", "chain of fp32 fma, one warp"});
  return found;
}

Result<Findings> measure_shared(Gpu& gpu, const machine::Chip& /*like*/) {
  ORR_TRY(const double latency, round_clocks(gpu, "shared_latency", 1, 100));
  ORR_TRY(const double wide, round_clocks(gpu, "shared_bandwidth", 1024, 100));
  ORR_TRY(const double barrier, round_clocks(gpu, "barrier", 256, 100));
  return Findings{
      {"core.shared_bandwidth",
       1024.0 * 16 * 16 / wide,
       "B/clk",
       "16 bytes a thread, no conflicts"},
      {"launch.shared_latency", latency / 64, "clk", "chain of dependent loads from shared memory"},
      {"launch.barrier", barrier / 16, "clk", "barriers of 256 threads, one after the other"}};
}

Result<Findings> measure_tensor(Gpu& gpu, const machine::Chip& /*like*/) {
  Findings found;
  for (const DType type :
       {DType::BF16, DType::F16, DType::F8E4M3, DType::F8E5M2, DType::I8, DType::TF32}) {
    double best = 0;
    for (const int64_t n : {64, 128, 256}) {
      ORR_TRY(const double rate, tensor_rate(gpu, type, n));
      best = std::max(best, rate);
      found.push_back({fmt::format("report.{}", wgmma_name(type, n)),
                       rate,
                       "FLOP/clk",
                       "wgmma from shared memory, random data"});
    }
    found.push_back({fmt::format("core.tensor.{}", name(type)),
                     best,
                     "FLOP/clk",
                     "wgmma, both operands in shared memory, best of 64x64, 64x128, 64x256"});
  }
  return found;
}

Result<Findings> measure_warp_mma(Gpu& gpu, const machine::Chip& /*like*/) {
  Findings found;
  for (const DType type : {DType::BF16, DType::F16, DType::TF32, DType::I8}) {
    ORR_TRY(const double clocks, round_clocks(gpu, mma_name(type).c_str(), 512, 400));
    const double depth = 32 / element_size(type).value();
    const double rate = 16.0 * 8 * 2 * 16 * 8 * depth / clocks;
    // Where a newer instruction is, it has the rate; else this one does.
    const bool newer = gpu.facts().major == 9;
    found.push_back({fmt::format("{}.{}", newer ? "report.mma" : "core.tensor", name(type)),
                     rate,
                     "FLOP/clk",
                     "mma.sync of 16 x 8, operands of 32 bytes, 16 warps an SM"});
  }
  return found;
}

}  // namespace orrery::calibrate
