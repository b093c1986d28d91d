// cuBLAS' estimate of an nvjet kernel, and the least of them.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/nvjet_rule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

using machine::NumberFile;
using machine::Unit;

constexpr int64_t kStepBytes = 128;  // of a row of A or B in a k-step: a line
constexpr double kMostSplitTiles = 66;
constexpr int64_t kLeastSliceSteps = 20;

struct Cluster {
  int64_t n = 1;
  int64_t m = 1;
};

constexpr std::array<Cluster, 8> kClusters = {
    Cluster{1, 1}, {1, 2}, {2, 1}, {1, 4}, {4, 1}, {2, 4}, {4, 2}, {2, 2}};

int64_t round_up(int64_t value, int64_t to) {
  return ceil_div(value, to) * to;
}

// No grid of clusters of 4 or 8 exceeds 120 CTAs on 132 SMs: those of incomplete GPCs idle
// (geometry of 2,901 launches).
int64_t usable_sms(int64_t cluster, int64_t sms) {
  return cluster > 2 ? std::max(cluster, sms * 10 / 11 / cluster * cluster) : sms;
}

// What the estimate of all clusters of a tile shares.
struct Problem {
  const GemmCall& call;
  const NvjetRule& rule;
  double rate = 1;      // FLOP per clock and SM
  double operands = 0;  // bytes
  int64_t sms = 0;
  int64_t step = 0;
  int64_t steps = 0;
};

double unevenness(const NvjetRule& rule, const NvjetTile& tile) {
  const int64_t columns = tile.rows_along_n ? tile.m : tile.n;
  return 1 + (columns % 64 != 0 ? rule.uneven_64 : 0) + (columns % 16 != 0 ? rule.uneven_16 : 0);
}

double step_clocks(const Problem& problem, const NvjetTile& tile, const Cluster& cluster) {
  const auto n = static_cast<double>(tile.n);
  const auto m = static_cast<double>(tile.m);
  const double drawn =
      kStepBytes * (n / static_cast<double>(cluster.m) + m / static_cast<double>(cluster.n));
  return std::max({2 * n * m * static_cast<double>(problem.step) / problem.rate *
                       unevenness(problem.rule, tile),
                   drawn / problem.rule.port,
                   kStepBytes * (n + m) / problem.rule.fill});
}

double estimate(const Problem& problem, const NvjetKernel& kernel) {
  const auto& rule = problem.rule;
  const NvjetLaunch launch = nvjet_launch(kernel, problem.call, problem.sms);
  const auto n = static_cast<double>(kernel.tile.n);
  const auto m = static_cast<double>(kernel.tile.m);
  const Cluster cluster{kernel.cluster_n, kernel.cluster_m};
  const double drawn =
      kStepBytes * (n / static_cast<double>(cluster.m) + m / static_cast<double>(cluster.n));
  const double units = launch.tiles * static_cast<double>(launch.slices);
  const auto steps = static_cast<double>(launch.steps);
  const double waves = std::ceil(units / static_cast<double>(launch.sms));
  double clocks = rule.start +
                  waves * (steps * step_clocks(problem, kernel.tile, cluster) +
                           rule.epilogue * n * m + rule.wave) +
                  units * steps * drawn / rule.l2 + problem.operands / rule.dram;
  if (kernel.split) {
    const double partials =
        4 * product(launch.slices, problem.call.batch, problem.call.m, problem.call.n);
    clocks += rule.split + partials / rule.sum;
  }
  return clocks;
}

// No cluster makes a tile cheaper than this.
double least(const Problem& problem, const NvjetTile& tile, double tiles) {
  const Cluster largest{4, 4};
  const double waves = std::ceil(tiles / static_cast<double>(problem.sms));
  return problem.rule.start +
         waves * (static_cast<double>(problem.steps) * step_clocks(problem, tile, largest)) +
         problem.operands / problem.rule.dram;
}

// Of equally good ones the tile with the shorter sides.
struct Best {
  NvjetKernel kernel;
  double clocks = std::numeric_limits<double>::infinity();
  int64_t sides = 0;

  void offer(const NvjetKernel& other, double other_clocks) {
    const int64_t other_sides = other.tile.n + other.tile.m;
    constexpr double kEqual = 1e-9;
    const bool better = other_clocks < clocks * (1 - kEqual) ||
                        (other_clocks <= clocks * (1 + kEqual) && other_sides < sides);
    if (better) {
      *this = {other, other_clocks, other_sides};
    }
  }
};

// A side more than twice what there is to do exists in no choice; nor does a cluster of which a
// quarter is idle.
bool too_large(int64_t side, int64_t size) {
  return side > 64 && side >= 2 * std::max<int64_t>(64, size);
}

bool fits(const Cluster& cluster, int64_t tiles_n, int64_t tiles_m) {
  return 4 * tiles_n >= 3 * cluster.n && 4 * tiles_m >= 3 * cluster.m;
}

void offer_tile(const Problem& problem, const NvjetTile& tile, Best& best) {
  const int64_t tiles_n = ceil_div(problem.call.n, tile.n);
  const int64_t tiles_m = ceil_div(problem.call.m, tile.m);
  const double tiles = product(tiles_n, tiles_m, problem.call.batch);
  const bool splits =
      problem.call.batch == 1 && tiles <= kMostSplitTiles && problem.steps >= 2 * kLeastSliceSteps;
  if (!splits && least(problem, tile, tiles) > best.clocks) {
    return;
  }
  for (const Cluster& cluster : kClusters) {
    if (!fits(cluster, tiles_n, tiles_m)) {
      continue;
    }
    NvjetKernel kernel{
        .tile = tile, .step = problem.step, .cluster_n = cluster.n, .cluster_m = cluster.m};
    best.offer(kernel, estimate(problem, kernel));
    kernel.split = splits && product(round_up(tiles_n, cluster.n), round_up(tiles_m, cluster.m)) <=
                                 kMostSplitTiles;
    if (kernel.split) {
      best.offer(kernel, estimate(problem, kernel));
    }
  }
}

}  // namespace

NvjetRule read_nvjet_rule(NumberFile& file) {
  NvjetRule rule;
  const auto rate = [&](std::string_view key) { return file.number(key, Unit::BytesPerCycle); };
  rule.start = cycles(file, "nvjet.rule.start");
  rule.port = rate("nvjet.rule.port");
  rule.fill = rate("nvjet.rule.fill");
  rule.epilogue = cycles(file, "nvjet.rule.epilogue");
  rule.wave = cycles(file, "nvjet.rule.wave");
  rule.l2 = rate("nvjet.rule.l2");
  rule.dram = rate("nvjet.rule.dram");
  rule.split = cycles(file, "nvjet.rule.split");
  rule.sum = rate("nvjet.rule.sum");
  rule.uneven_64 = one(file, "nvjet.rule.uneven_64");
  rule.uneven_16 = one(file, "nvjet.rule.uneven_16");
  return rule;
}

NvjetLaunch nvjet_launch(const NvjetKernel& kernel, const GemmCall& call, int64_t sms) {
  NvjetLaunch launch;
  launch.tiles = product(round_up(ceil_div(call.n, kernel.tile.n), kernel.cluster_n),
                         round_up(ceil_div(call.m, kernel.tile.m), kernel.cluster_m),
                         call.batch);
  launch.sms = usable_sms(kernel.cluster_n * kernel.cluster_m, sms);
  const int64_t steps = ceil_div(call.k, kernel.step);
  if (kernel.split) {
    const double fit = std::floor(static_cast<double>(launch.sms) / launch.tiles);
    const auto deep = static_cast<double>(steps / kLeastSliceSteps);
    launch.slices = std::max<int64_t>(2, static_cast<int64_t>(std::min(fit, deep)));
  }
  launch.steps = ceil_div(steps, launch.slices);
  return launch;
}

NvjetKernel nvjet_choice(const GemmCall& call,
                         const std::vector<NvjetTile>& tiles,
                         const NvjetRule& rule,
                         const machine::Chip& chip) {
  const auto bytes = static_cast<int64_t>(element_size(call.input).value());
  const int64_t step = kStepBytes / bytes;
  const double inputs = product(call.m, call.k) + product(call.n, call.k);
  const double outputs = product(call.m, call.n);
  const Problem problem{
      .call = call,
      .rule = rule,
      .rate = chip.core.tensor.at(call.input).value(),
      .operands = static_cast<double>(call.batch) * (inputs * static_cast<double>(bytes) +
                                                     outputs * element_size(call.output).value()),
      .sms = chip.core.count,
      .step = step,
      .steps = ceil_div(call.k, step)};
  Best best;
  for (const NvjetTile& tile : tiles) {
    if (!too_large(tile.n, call.n) && !too_large(tile.m, call.m)) {
      offer_tile(problem, tile, best);
    }
  }
  best.kernel.stages = nvjet_stages(best.kernel.tile, step, bytes, call.layout);
  return best.kernel;
}

}  // namespace orrery::library
