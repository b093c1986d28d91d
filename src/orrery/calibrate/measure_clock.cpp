// The clock under load: matrix products with vector work between, from a cool chip to a steady one.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "orrery/calibrate/benchmark.h"
#include "orrery/calibrate/fit.h"
#include "orrery/calibrate/kernels.h"
#include "orrery/calibrate/measure.h"

namespace orrery::calibrate {
namespace {

constexpr int64_t kPieces = 450;       // kernels of a run
constexpr double kPieceClocks = 2e6;   // of each: about a millisecond
constexpr double kGroupClocks = 1024;  // four instructions of 64 x 256 of two warpgroups
constexpr int kCool = 400;             // ms

/// Clock over time of a load, and the share of clocks that the matrix pipes worked.
struct Run {
  std::vector<Point> clock;  // seconds since the begin, hertz
  double share = 0;
  double watts = 0;  // at the end; 0: not known
};

Result<Run> run_load(Gpu& gpu, DType type, int64_t rest, int64_t pieces) {
  const double round = 8 * kGroupClocks + static_cast<double>(rest);
  const auto groups = static_cast<int64_t>(kPieceClocks / round) * 8;
  std::vector<Work> works;
  for (int64_t i = 0; i < pieces; ++i) {
    works.push_back({.kernel = &kernel(load_name(type)),
                     .grid = gpu.facts().sms,
                     .block = 256,
                     .shared = kStageBytes,
                     .a = groups,
                     .b = rest,
                     .c = i});
  }
  gpu.idle(kCool);
  ORR_TRY(const std::vector<Reading> readings, gpu.watch(works));
  ORR_TRY(const std::vector<uint64_t> out, gpu.output(2 * static_cast<size_t>(pieces)));
  Run run;
  double at = 0, clocks = 0;
  for (size_t i = 0; i < static_cast<size_t>(pieces); ++i) {
    const double seconds = static_cast<double>(std::max<uint64_t>(1, out[2 * i + 1])) * 1e-9;
    run.clock.push_back({at, static_cast<double>(out[2 * i]) / seconds});
    at += seconds;
    clocks += static_cast<double>(out[2 * i]);
  }
  run.share = kGroupClocks * static_cast<double>(groups * pieces) / clocks;
  if (!readings.empty()) run.watts = readings.back().watts;
  return run;
}

constexpr double kBurstFrom = 0.004, kBurstTo = 0.02, kSteadyFrom = 0.25;

Load levels(const Run& run, double fastest) {
  return {run.share,
          stair(run.clock, kBurstFrom, kBurstTo) / fastest,
          stair(run.clock, kSteadyFrom, 1e9) / fastest};
}

void add_load(const Run& run, const Load& load, DType type, double fastest, Findings& found) {
  const int share = static_cast<int>(std::lround(100 * run.share));
  const std::string key = fmt::format("report.{}_{}_percent_", name(type), share);
  const std::string note =
      fmt::format("{} products, matrix pipes busy for {} % of the clocks", name(type), share);
  found.push_back({key + "burst", load.burst * fastest / 1e6, "MHz", note + ", 4 to 20 ms"});
  found.push_back({key + "steady", load.steady * fastest / 1e6, "MHz", note + ", from 250 ms"});
  if (run.watts > 0) {
    found.push_back({key + "watts", run.watts, "W", note + ", at the end"});
  }
}

void add_fit(const ClockFit& fit, Findings& found) {
  if (fit.burst <= 0) return;
  const std::string note = fmt::format(
      "clocks over nanoseconds of bf16 products without a pause; base_power {} and "
      "exponent {} are not measured",
      fit.curve.base,
      fit.curve.exponent);
  found.push_back({"clock.tensor_power_burst", fit.burst, "1", note + ", 4 to 20 ms"});
  found.push_back({"clock.tensor_power_steady", fit.steady, "1", note + ", from 250 ms"});
}

/// When the clock falls, over runs of full load from a cool chip.
Result<void> add_drop(Gpu& gpu, Findings& found) {
  constexpr int kRuns = 16;
  constexpr int64_t kDropPieces = 150;
  std::vector<double> drops;
  for (int i = 0; i < kRuns; ++i) {
    ORR_TRY(const Run run, run_load(gpu, DType::BF16, 0, kDropPieces));
    if (const double drop = drop_time(run.clock); drop > 0) drops.push_back(drop);
  }
  if (drops.size() < 2) return {};
  const double mean =
      std::accumulate(drops.begin(), drops.end(), 0.0) / static_cast<double>(drops.size());
  const std::string note = fmt::format(
      "full load from a cool chip to half of the fall of its clock, {} runs", drops.size());
  found.push_back({"clock.drop_after", mean * 1e3, "ms", note + ", mean"});
  found.push_back(
      {"clock.drop_spread", standard_deviation(drops) * 1e3, "ms", note + ", standard deviation"});
  return {};
}

/// Energy of products of another type, relative to bf16's, from the clock they run at.
Result<void> add_energy(Gpu& gpu, const ClockFit& fit, double fastest, Findings& found) {
  for (const DType type : {DType::F16, DType::F8E4M3}) {
    ORR_TRY_VOID(fill(gpu, type));
    ORR_TRY(const Run run, run_load(gpu, type, 0, kPieces));
    const Load load = levels(run, fastest);
    add_load(run, load, type, fastest, found);
    if (fit.burst > 0 && fit.steady > 0) {
      found.push_back({fmt::format("clock.tensor_energy.{}", name(type)),
                       energy(load, fit),
                       "1",
                       "the same load in this type, mean of burst and steady"});
    }
  }
  return {};
}

}  // namespace

Result<Findings> measure_clock(Gpu& gpu, const machine::Chip& like) {
  Findings found;
  std::vector<Load> loads;
  const double fastest = hertz(gpu);
  for (const int64_t rest : {0, 0, 0, 900, 2000, 3500, 5500, 8200, 12300}) {
    ORR_TRY(const Run run, run_load(gpu, DType::BF16, rest, kPieces));
    loads.push_back(levels(run, fastest));
    if (rest > 0 || loads.size() == 1) add_load(run, loads.back(), DType::BF16, fastest, found);
  }
  const ClockFit fit = fit_clock(loads, {like.clock.base_power, like.clock.exponent});
  add_fit(fit, found);
  ORR_TRY_VOID(add_drop(gpu, found));
  ORR_TRY_VOID(add_energy(gpu, fit, fastest, found));
  return found;
}

}  // namespace orrery::calibrate
