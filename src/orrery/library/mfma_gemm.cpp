// Products on matrix cores of CDNA chips: what a tile does and moves.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/mfma_gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "orrery/library/counts.h"
#include "orrery/library/gemm_types.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

constexpr double kWaves = 4;     // of a workgroup
constexpr double kFlat = 32;     // a side of at most so many rows is not split among waves
constexpr double kScales = 128;  // of k, per promotion
constexpr double kLanes = 32;    // of the warps that machine files count issue slots by

// How many waves share the rows of the tile; the others share its columns.
double waves_along_m(const MfmaOption& option) {
  if (static_cast<double>(option.tile_n) <= kFlat) {
    return kWaves;
  }
  return static_cast<double>(option.tile_m) <= kFlat ? 1 : 2;
}

// Issue slots that treat every element of a tile once.
double element_slots(const MfmaOption& option) {
  return product(option.tile_m, option.tile_n) / kLanes;
}

ProfilePhase loop_phase(const MfmaOption& option,
                        const MfmaProblem& problem,
                        const MfmaConstants& constants) {
  ProfilePhase phase;
  phase.name = "main loop";
  phase.trips = mfma_steps(option, problem);
  phase.ring = 2;
  phase.work = mfma_step(option, problem, constants);
  phase.chain.fixed = Cycles(phase.work.l2_read.value() / constants.fill);
  return phase;
}

ProfilePhase waiting(std::string_view name, double trips, double clocks) {
  ProfilePhase phase;
  phase.name = name;
  phase.trips = trips;
  phase.chain.fixed = Cycles(clocks);
  return phase;
}

ProfilePhase epilogue(const MfmaOption& option,
                      const MfmaProblem& problem,
                      const MfmaConstants& constants) {
  ProfilePhase phase;
  phase.name = "epilogue";
  phase.work.issue = Instructions(constants.epilogue * element_slots(option));
  phase.work.l2_write = Bytes(product(option.tile_m, option.tile_n) * problem.out);
  return phase;
}

// How many matrices B are read.
double used_weights(const MfmaProblem& problem) {
  if (problem.groups.empty()) {
    return 1;
  }
  return static_cast<double>(std::count_if(
      problem.groups.begin(), problem.groups.end(), [](int64_t rows) { return rows > 0; }));
}

kernel::Traffic traffic_of(const MfmaOption& option, const MfmaProblem& problem) {
  const GemmCall& call = problem.call;
  const double rows = activation_bytes(call).value();
  const double unique = rows + used_weights(problem) * weight_bytes(call).value();
  const double written = result_bytes(call).value();
  const double drawn = product(option.tile_m + option.tile_n, option.step_bytes) *
                       mfma_units(option, problem) * mfma_steps(option, problem);
  // Partial sums are read, added to and written back.
  constexpr double kPartial = 4 * 4;
  const double partials =
      option.slices > 1 ? product(call.batch, call.m, call.n, option.slices, kPartial) : written;
  return {.unique_read = Bytes(unique),
          .recent_read = Bytes(rows),
          .unique_write = Bytes(written),
          .dram_read = Bytes(unique),
          .dram_write = Bytes(written),
          .l2_read = Bytes(drawn),
          .l2_write = Bytes(partials)};
}

// Clocks of a workgroup: those in which pipes work, and those in which it only waits.
struct TileClocks {
  double busy = 0;
  double fill = 0;  // least clocks of the loads, however many workgroups there are
  double wait = 0;
};

TileClocks tile_clocks(const MfmaOption& option,
                       const MfmaProblem& problem,
                       const MfmaConstants& constants) {
  const machine::Core& core = problem.chip.core;
  const kernel::PipeWork work = mfma_step(option, problem, constants);
  const double rate = core.tensor.at(problem.call.input).value() * constants.tensor_share;
  const auto issue = static_cast<double>(core.schedulers);
  const double step = std::max(
      {work.tensor.value() / rate,
       (work.shared_read.value() + work.shared_write.value()) / core.shared_bandwidth.value(),
       work.issue.value() / issue,
       work.l2_read.value() / core.l2_port.value()});
  const double steps = mfma_steps(option, problem);
  return {.busy = steps * step + constants.epilogue * element_slots(option) / issue,
          .fill = steps * work.l2_read.value() / constants.fill,
          .wait = steps * constants.wait + constants.prologue};
}

// Clocks of the busiest compute unit at its highest clock: what orders the options.
double estimate(const MfmaOption& option,
                const MfmaProblem& problem,
                const MfmaConstants& constants) {
  const TileClocks tile = tile_clocks(option, problem, constants);
  const auto residents = static_cast<double>(mfma_residents(option, problem));
  const double share =
      std::ceil(mfma_units(option, problem) / static_cast<double>(problem.chip.core.count));
  const double rounds = std::floor(share / residents);
  const double rest = share - rounds * residents;
  const double full = rounds * (std::max(residents * tile.busy, tile.fill) + tile.wait);
  const double last = rest > 0 ? std::max(rest * tile.busy, tile.fill) + tile.wait : 0;
  const double split = option.slices > 1 ? constants.split.seconds().value() : 0;
  return full + last + split * problem.chip.clock.max.value();
}

// Not cut, or so that the slices keep two steps and make two waves at most.
bool sensible(const MfmaOption& option, const MfmaProblem& problem) {
  if (option.slices == 1 || !problem.groups.empty()) {
    return option.slices == 1;
  }
  constexpr double kWavesOfSlices = 2;
  const auto count = static_cast<double>(problem.chip.core.count);
  return mfma_steps(option, problem) >= 2 && mfma_units(option, problem) <= kWavesOfSlices * count;
}

}  // namespace

MfmaProblem mfma_problem(const GemmCall& call,
                         const machine::Chip& chip,
                         std::span<const int64_t> groups) {
  return {.call = call,
          .chip = chip,
          .groups = groups,
          .in = element_size(call.input).value(),
          .scaled = activation_bytes(call).value() / product(call.batch, call.m, call.k),
          .out = element_size(call.output).value()};
}

double mfma_steps(const MfmaOption& option, const MfmaProblem& problem) {
  const double depth = static_cast<double>(option.step_bytes) / problem.in;
  const double steps = std::ceil(static_cast<double>(problem.call.k) / depth);
  return std::ceil(steps / static_cast<double>(option.slices));
}

double mfma_units(const MfmaOption& option, const MfmaProblem& problem) {
  int64_t down = problem.groups.empty() ? ceil_div(problem.call.m, option.tile_m) : 0;
  for (const int64_t rows : problem.groups) {
    down += ceil_div(rows, option.tile_m);
  }
  return product(problem.call.batch, down, ceil_div(problem.call.n, option.tile_n), option.slices);
}

int64_t mfma_residents(const MfmaOption& option, const MfmaProblem& problem) {
  constexpr double kOther = 96;  // registers of a lane beside its sums: operands, addresses
  const machine::Core& core = problem.chip.core;
  const double threads = kWaves * static_cast<double>(core.warp_size);
  const double sets = problem.call.quantisation == Quantisation::Block128 ? 2 : 1;
  const double registers = sets * product(option.tile_m, option.tile_n) / threads + kOther;
  return occupancy(core,
                   static_cast<int64_t>(threads),
                   static_cast<int64_t>(registers),
                   product(option.tile_m + option.tile_n, option.step_bytes));
}

kernel::PipeWork mfma_step(const MfmaOption& option,
                           const MfmaProblem& problem,
                           const MfmaConstants& constants) {
  const auto m = static_cast<double>(option.tile_m);
  const auto n = static_cast<double>(option.tile_n);
  const auto row = static_cast<double>(option.step_bytes);
  const double depth = row / problem.in;
  const double along_m = waves_along_m(option);
  const double operands = (m + n) * row;
  constexpr double kKiB = 1024;
  const double promoted = problem.call.quantisation == Quantisation::Block128
                              ? constants.promotion * depth / kScales
                              : 0;
  kernel::PipeWork work;
  work.tensor = Flops(2 * m * n * depth);
  work.tensor_type = problem.call.input;
  work.tensor_share = constants.tensor_share;
  work.shared_write = Bytes(operands);
  work.shared_read = Bytes(kWaves * (m / along_m + n * along_m / kWaves) * row);
  const double wave = static_cast<double>(problem.chip.core.warp_size) / kLanes;
  work.issue = Instructions(wave * constants.load_issue * operands / kKiB +
                            promoted * element_slots(option));
  work.l2_read = Bytes(operands * problem.scaled / problem.in);
  return work;
}

std::vector<MfmaOption> mfma_choice(const MfmaTable& table, const MfmaProblem& problem) {
  constexpr size_t kKept = 4;

  struct Ranked {
    double clocks;
    MfmaOption option;
  };

  std::vector<Ranked> best;
  for (MfmaOption option : table.tiles) {
    if (product(option.tile_m + option.tile_n, option.step_bytes) >
        problem.chip.core.shared_per_cta.value()) {
      continue;
    }
    for (const int64_t slices : table.slices) {
      option.slices = slices;
      if (!sensible(option, problem)) {
        continue;
      }
      const double clocks = estimate(option, problem, table.constants);
      const auto at = std::upper_bound(
          best.begin(), best.end(), clocks, [](double a, const Ranked& b) { return a < b.clocks; });
      if (at != best.end() || best.size() < kKept) {
        best.insert(at, {clocks, option});
        best.resize(std::min(best.size(), kKept));
      }
    }
  }
  std::vector<MfmaOption> options;
  options.reserve(best.size());
  for (const auto& each : best) {
    options.push_back(each.option);
  }
  return options;
}

Profile mfma_profile(const MfmaOption& option,
                     const MfmaProblem& problem,
                     const MfmaConstants& constants) {
  Profile profile;
  const double depth = static_cast<double>(option.step_bytes) / problem.in;
  profile.kernel = fmt::format("{}_MT{}x{}x{}{}",
                               types_name(problem.call),
                               option.tile_m,
                               option.tile_n,
                               depth,
                               option.slices > 1 ? fmt::format("_split{}", option.slices) : "");
  profile.family = "gemm";
  profile.threads = static_cast<int64_t>(kWaves) * problem.chip.core.warp_size;
  profile.ctas_per_sm = mfma_residents(option, problem);
  const double steps = mfma_steps(option, problem);
  set_units(profile,
            {{mfma_units(option, problem),
              {loop_phase(option, problem, constants),
               waiting("barriers", steps, constants.wait),
               waiting("prologue", 1, constants.prologue),
               epilogue(option, problem, constants)}}});
  profile.traffic = traffic_of(option, problem);
  profile.fixed = option.slices > 1 ? constants.split : Duration::zero();
  profile.behaviour.overlap = constants.overlap;
  profile.behaviour.pipe_overlap = constants.pipe_overlap;
  profile.behaviour.relative_error = constants.error;
  return profile;
}

}  // namespace orrery::library
