// Launching: gaps between kernels, first accesses, blocks; hand-offs between SMs.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "orrery/calibrate/benchmark.h"
#include "orrery/calibrate/fit.h"
#include "orrery/calibrate/kernels.h"
#include "orrery/calibrate/measure.h"

namespace orrery::calibrate {
namespace {

constexpr int64_t kThreads = 128;
constexpr int64_t kVectors = 4;                 // of a thread of a pointwise kernel
constexpr int64_t kWritten = int64_t{1} << 30;  // where results begin

/// A pointwise kernel in which every thread of `grid` blocks has its vectors.
Work pointwise(const char* name, int64_t grid) {
  return {.kernel = &kernel(name),
          .grid = grid,
          .block = kThreads,
          .b = kWritten,
          .c = grid * kThreads * kVectors};
}

/// Something else goes through L2.
Work flush(const Gpu& gpu) {
  constexpr int64_t kOther = kDataBytes - (int64_t{200} << 20);
  return {.kernel = &kernel("flush"),
          .grid = gpu.facts().sms * 4,
          .block = 512,
          .a = kOther,
          .b = kDataBytes - kOther};
}

struct Times {
  double set = 0;   // seconds of a kernel that writes alone
  double warm = 0;  // of one that reads from L2, too
  double cold = 0;  // of one that reads what no cache has
};

Result<Times> times(Gpu& gpu, int64_t grid) {
  const Work set = pointwise("set", grid), scale = pointwise("scale", grid);
  constexpr int64_t kApart = 5 << 20;  // more than a page of memory
  Times result;
  ORR_TRY(result.set, kernel_time(gpu, {set}));
  ORR_TRY(result.warm, kernel_time(gpu, {scale}));
  ORR_TRY(result.cold,
          kernel_time(gpu, {scale}, {.length = 160, .step = kApart, .before = {flush(gpu)}}));
  return result;
}

/// The same with other numbers of blocks, for the report.
Result<void> report_times(Gpu& gpu, Findings& found) {
  const Work empty{.kernel = &kernel("empty"), .block = kThreads};
  ORR_TRY(const double alone, kernel_time(gpu, {empty}));
  found.push_back({"report.empty_gap", alone * 1e6, "us", "empty kernels of one block in a graph"});
  for (const int64_t grid : {int64_t{1}, gpu.facts().sms, 4 * gpu.facts().sms}) {
    ORR_TRY(const Times some, times(gpu, grid));
    const std::string key = fmt::format("report.blocks_{}_", grid);
    const std::string blocks = fmt::format("pointwise kernels of {} blocks, ", grid);
    found.push_back({key + "set", some.set * 1e6, "us", blocks + "writing"});
    found.push_back({key + "warm", some.warm * 1e6, "us", blocks + "reading L2, writing"});
    found.push_back({key + "cold", some.cold * 1e6, "us", blocks + "reading DRAM, writing"});
  }
  return {};
}

/// What a kernel costs more after another one: its code has to come, and an SM's memory is shared
/// out anew where one takes much and the next takes none.
Result<Finding> other_kernel(Gpu& gpu, int64_t grid) {
  constexpr int64_t kMuch = 96 << 10;
  std::vector<Work> turns;
  for (int i = 0; i < kCodes; ++i) {
    turns.push_back(pointwise(code_name(i).c_str(), grid));
    turns.back().shared = i % 2 == 0 ? 0 : kMuch;
  }
  ORR_TRY(const double same, kernel_time(gpu, {turns.front()}, {.length = 240}));
  ORR_TRY(const double mixed, kernel_time(gpu, turns, {.length = 240}));
  return Finding{
      "launch.graph_gap_other",
      std::max(0.0, mixed - same) * 1e6,
      "us",
      "twelve kernels of 8 KiB of instructions in turn, every other with 96 KiB of shared "
      "memory, over one of them again and again"};
}

Result<void> report_launches(Gpu& gpu, Findings& found) {
  const Work empty{.kernel = &kernel("empty"), .grid = gpu.facts().sms, .block = kThreads};
  ORR_TRY(const double stream, kernel_time(gpu, {empty}, {.how = How::Stream}));
  found.push_back({"report.stream_launch", stream * 1e6, "us", "empty kernels in a stream"});
  if (gpu.facts().major >= 9) {
    Work early = empty;
    early.kernel = &kernel("empty_early");
    early.programmatic = true;
    ORR_TRY(const double overlapped, kernel_time(gpu, {early}));
    found.push_back({"report.programmatic_gap",
                     overlapped * 1e6,
                     "us",
                     "empty kernels in a graph that may start early"});
  }
  return {};
}

}  // namespace

Result<Findings> measure_launch(Gpu& gpu, const machine::Chip& /*like*/) {
  const int64_t grid = std::max<int64_t>(1, gpu.facts().sms / 4);
  ORR_TRY(const Times all, times(gpu, grid));
  const std::vector<Work> one = {pointwise("set", grid)};
  ORR_TRY(const double alone, median_time(gpu, one, 200, How::Graph));
  const std::string blocks = fmt::format("{} blocks of {} threads", grid, kThreads);
  Findings found = {{"launch.graph_gap",
                     all.set * 1e6,
                     "us",
                     "pointwise kernels that write, one after the other in a graph, " + blocks},
                    {"launch.graph_start",
                     std::max(0.0, alone - all.set) * 1e6,
                     "us",
                     "graphs of one of them, less the gap"},
                    {"launch.first_access",
                     std::max(0.0, all.warm - all.set) * 1e6,
                     "us",
                     "such kernels that read operands in L2, over those that write alone"},
                    // Not launch.cold_access, which is fitted on larger kernels and has what they
                    // lose while DRAM starts up.
                    {"report.cold_access",
                     std::max(0.0, all.cold - all.warm) * 1e6,
                     "us",
                     "the same with operands in DRAM, 5 MiB further each time, over that"}};
  ORR_TRY(found.emplace_back(), other_kernel(gpu, grid));
  ORR_TRY_VOID(report_launches(gpu, found));
  ORR_TRY_VOID(report_times(gpu, found));
  return found;
}

Result<Findings> measure_blocks(Gpu& gpu, const machine::Chip& /*like*/) {
  Work work{.kernel = &kernel("empty"), .grid = 1 << 18, .block = 64};
  ORR_TRY(const double few, median_time(gpu, work, 4));
  work.grid = 1 << 20;
  ORR_TRY(const double many, median_time(gpu, work, 4));
  const double each = (many - few) / static_cast<double>((1 << 20) - (1 << 18));
  return Findings{{"launch.block_interval",
                   each * hertz(gpu),
                   "clk",
                   "a million empty blocks of 64 threads less a quarter of them"}};
}

Result<Findings> measure_hand_off(Gpu& gpu, const machine::Chip& /*like*/) {
  constexpr int64_t kTurns = 2000;
  ORR_TRY(const double atomic, median_clocks(gpu, {.kernel = &kernel("atomic"), .a = kTurns}));
  std::vector<double> clocks;
  for (int64_t i = 0; i <= kSamples; ++i) {
    const Work work{.kernel = &kernel("flag"), .grid = 2, .a = kTurns, .b = (i + 1) * 1'000'000};
    ORR_TRY_VOID(gpu.time({&work, 1}, 1, How::Stream));
    ORR_TRY(const std::vector<uint64_t> out, gpu.output(1));
    if (i > 0) clocks.push_back(static_cast<double>(out[0]));
  }
  return Findings{
      {"report.atomic", atomic / kTurns, "clk", "chain of atomic additions of one thread"},
      {"report.hand_off",
       median(clocks) / (2.0 * kTurns),
       "clk",
       "a flag in memory from one SM to another, half a round trip"}};
}

}  // namespace orrery::calibrate
