// cuBLAS' older kernels: their profiles.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/cublas_legacy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/split_sum.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

constexpr double kWarp = 32;
constexpr int64_t kPingPong = 128 * 128;  // largest tile of xmma's warpgroupsize1x1x1

// Sizes of one launch.
struct Cut {
  double tiles = 0;  // with the batch
  int64_t slices = 1;
  int64_t steps = 1;        // of a slice
  double element = 4;       // bytes of what a slice writes for an element of C
  bool partial = false;     // slices write partial results of their own
  bool accumulate = false;  // slices add to C in place
};

Cut cut_of(const LegacyOption& option, const LegacyProblem& problem) {
  const LegacyKernel& kernel = *option.kernel;
  Cut cut;
  cut.tiles = legacy_tiles(kernel, problem.call);
  cut.slices = option.slices;
  cut.steps = std::max<int64_t>(1, ceil_div(ceil_div(problem.call.k, option.slices), kernel.step));
  cut.partial = option.sum == Slices::ByTile || option.sum == Slices::ByElement;
  cut.accumulate = option.sum == Slices::InPlace;
  // Loads of single elements come with fp32 partial results (s1688gemm_bf16), wider ones with
  // results of C's type (bf16_s1688gemm_bf16).
  cut.element = cut.partial && kernel.access < 4 ? 4 : problem.out;
  return cut;
}

double warps_of(const LegacyKernel& kernel) {
  return static_cast<double>(kernel.threads) / kWarp;
}

// Warp instructions that bring the operands of a step into shared memory: xmma's fp32 kernels copy
// values of 4 bytes with little ado, CUTLASS' iterators check and step each lane's piece.
double copies(const LegacyKernel& kernel, double in, const LegacyConstants& constants) {
  const double pieces =
      product(kernel.tile_m + kernel.tile_n, kernel.step) * in / kernel.access / kWarp;
  return pieces * (kernel.sum == Slices::ByTile ? constants.lane_copy : constants.warp_copy);
}

// Of a step's work, what one CTA does in sequence: with a warp on each scheduler all of it, with
// two warps half as long.
double sequence(const LegacyKernel& kernel, const machine::Core& core) {
  return std::min(1.0, static_cast<double>(core.schedulers) / warps_of(kernel));
}

// Lanes: FMA and LDS issue side by side with what shared memory delivers to registers, 32 lanes of
// each value even if they are the same.
void multiply_on_lanes(ProfilePhase& phase,
                       const LegacyKernel& kernel,
                       const LegacyProblem& problem,
                       const LegacyConstants& constants) {
  const double outputs = product(kernel.tile_m, kernel.tile_n, kernel.step);
  const double values = product(kernel.thread_m + kernel.thread_n, kernel.step) * warps_of(kernel);
  phase.work.fma = outputs;
  phase.work.issue =
      Instructions(outputs / kWarp + values / 4 + copies(kernel, problem.in, constants));
  phase.work.shared_read = Bytes(values * kWarp * problem.in);
  phase.work.shared_write = Bytes(product(kernel.tile_m + kernel.tile_n, kernel.step) * problem.in);
  const double busy = std::min(warps_of(kernel), static_cast<double>(problem.chip.core.schedulers));
  phase.chain.fixed = Cycles(phase.work.issue.value() / busy * sequence(kernel, problem.chip.core));
}

void multiply_by_matrix_unit(ProfilePhase& phase,
                             const LegacyKernel& kernel,
                             const LegacyProblem& problem,
                             const LegacyConstants& constants) {
  const bool group = kernel.engine == Engine::Warpgroup;
  const double flops = 2 * product(kernel.tile_m, kernel.tile_n, kernel.step);
  const double share =
      group ? constants.group_share : constants.warp_share * problem.chip.core.warp_mma;
  phase.work.tensor = Flops(flops);
  phase.work.tensor_type = problem.call.input;
  phase.work.tensor_share = share;
  const auto rate = problem.chip.core.tensor.find(problem.call.input);
  const double peak = rate != problem.chip.core.tensor.end() ? rate->second.value()
                                                             : 2 * problem.chip.core.fma_lanes;
  const double product_cycles = flops / (peak * share);
  if (group) {
    // wgmma reads A in slices of 64 rows, and B once for each.
    phase.work.shared_read = Bytes(std::ceil(static_cast<double>(kernel.tile_m) / 64) *
                                   (64 + static_cast<double>(kernel.tile_n)) *
                                   static_cast<double>(kernel.step) * problem.in);
    phase.chain.fixed = Cycles(product_cycles);
    return;
  }
  const double copy = copies(kernel, problem.in, constants);
  phase.work.issue = Instructions(copy);
  const auto schedulers = static_cast<double>(problem.chip.core.schedulers);
  phase.chain.fixed =
      Cycles((copy / schedulers + product_cycles) * sequence(kernel, problem.chip.core));
}

// xmma's wgmma kernels pair two CTAs along n, which share the rows of A.
double drawn(const LegacyKernel& kernel) {
  const auto n = static_cast<double>(kernel.tile_n);
  return static_cast<double>(kernel.tile_m) + (kernel.engine == Engine::Warpgroup ? n / 2 : n);
}

ProfilePhase main_loop(const LegacyKernel& kernel,
                       const LegacyProblem& problem,
                       const LegacyConstants& constants,
                       int64_t steps) {
  ProfilePhase phase;
  phase.name = "main loop";
  phase.trips = static_cast<double>(steps);
  phase.chain.memory = 1;
  phase.work.l2_read = Bytes(drawn(kernel) * static_cast<double>(kernel.step) * problem.in);
  if (kernel.engine == Engine::Lanes) {
    multiply_on_lanes(phase, kernel, problem, constants);
  } else {
    multiply_by_matrix_unit(phase, kernel, problem, constants);
  }
  phase.ring =
      kernel.engine == Engine::Warpgroup ? kernel.stages : std::max<int64_t>(2, kernel.stages - 1);
  return phase;
}

ProfilePhase epilogue(const LegacyKernel& kernel,
                      const LegacyProblem& problem,
                      const LegacyConstants& constants,
                      const Cut& cut) {
  const double bytes = product(kernel.tile_m, kernel.tile_n) * cut.element;
  ProfilePhase phase;
  phase.name = "epilogue";
  phase.work.l2_write = Bytes(bytes);
  if (kernel.engine != Engine::Warpgroup) {  // whose stores are bulk copies
    const double instructions = bytes * constants.epilogue_instructions;
    phase.work.issue = Instructions(instructions);
    phase.chain.fixed = Cycles(constants.prologue +
                               instructions / static_cast<double>(problem.chip.core.schedulers));
  }
  if (cut.accumulate) {
    phase.work.l2_read = Bytes(bytes);
    phase.chain.memory = 2;  // the counter of the slice before, then C
  }
  return phase;
}

// Rows of C that begin or end inside a sector: DRAM reads the rest of it before it is written.
double fill(const LegacyKernel& kernel, const LegacyProblem& problem, const Cut& cut) {
  const bool whole =
      std::fmod(product(problem.call.n) * cut.element, problem.chip.l2.sector.value()) == 0;
  return whole || kernel.engine == Engine::Warpgroup ? 0 : 1;
}

// Reads from DRAM: what a wave of tiles, a square patch of C, shares is read once; A and B that
// exceed L2 are read again by the next wave.
double dram_read(const LegacyKernel& kernel,
                 const LegacyProblem& problem,
                 double unique,
                 double tiles) {
  if (unique <= problem.chip.l2.effective.value()) {
    return unique;
  }
  const double wave = product(problem.chip.core.count, legacy_residents(kernel, problem.chip.core));
  const double area = wave * product(kernel.tile_m, kernel.tile_n);
  const double side_n = std::min(std::sqrt(area), static_cast<double>(problem.call.n));
  const double side_m = std::min(area / side_n, static_cast<double>(problem.call.m));
  const double patch = (side_n + side_m) * product(problem.call.k, problem.in);
  return std::max(unique, std::max(1.0, tiles / wave) * patch);
}

kernel::Traffic traffic_of(const LegacyKernel& kernel,
                           const LegacyProblem& problem,
                           const Cut& cut) {
  const GemmCall& call = problem.call;
  const double rows = product(call.batch, call.m, call.k) * problem.in;
  const double unique = rows + product(call.batch, call.n, call.k) * problem.in;
  const double written = product(call.batch, call.m, call.n) * cut.element *
                         (cut.partial ? static_cast<double>(cut.slices) : 1);
  const double passes = cut.accumulate ? static_cast<double>(cut.slices) : 1;
  return {.unique_read = Bytes(unique),
          .recent_read = Bytes(rows),
          .unique_write = Bytes(written),
          .dram_read = Bytes(dram_read(kernel, problem, unique, cut.tiles) +
                             fill(kernel, problem, cut) * written),
          .dram_write = Bytes(written),
          .l2_read = Bytes(cut.tiles * drawn(kernel) * product(call.k) * problem.in),
          .l2_write = Bytes(written * passes)};
}

// Partial results, just written, from L2.
kernel::Traffic sum_traffic(const LegacyProblem& problem, const Cut& cut) {
  const double elements = product(problem.call.batch, problem.call.m, problem.call.n);
  const double read = elements * cut.element * static_cast<double>(cut.slices);
  const double written = elements * problem.out;
  return {.unique_read = Bytes(read),
          .recent_read = Bytes(read),
          .unique_write = Bytes(written),
          .dram_read = Bytes(0.0),
          .dram_write = Bytes(written),
          .l2_read = Bytes(read),
          .l2_write = Bytes(written)};
}

// Two CTAs a tile; a thread walks its elements, slice by slice.
Profile sum_by_tile(const LegacyKernel& kernel,
                    const LegacyProblem& problem,
                    const LegacyConstants& constants,
                    const Cut& cut) {
  const double elements = product(kernel.tile_m, kernel.tile_n) / 2;
  Profile profile;
  profile.kernel = kernel.name + "_execute_split_k_kernel";
  profile.family = "gemm";
  profile.threads = kernel.threads;
  profile.units = static_cast<int64_t>(std::min(9e15, 2 * cut.tiles));
  profile.ctas = profile.units;
  profile.ctas_per_sm = 4;
  ProfilePhase phase;
  phase.name = "sum";
  phase.trips = static_cast<double>(cut.slices);
  phase.chain.fixed =
      Cycles(constants.tile_sum_access * elements / static_cast<double>(kernel.threads));
  phase.work.l2_read = Bytes(elements * cut.element);
  profile.kinds.push_back({2 * cut.tiles, {phase}});
  profile.traffic = sum_traffic(problem, cut);
  profile.fixed = constants.tile_sum_fixed;
  return profile;
}

}  // namespace

int64_t legacy_residents(const LegacyKernel& kernel, const machine::Core& core) {
  return occupancy(core, kernel.threads, kernel.registers, kernel.shared);
}

double legacy_tiles(const LegacyKernel& kernel, const GemmCall& call) {
  return product(call.batch, ceil_div(call.m, kernel.tile_m), ceil_div(call.n, kernel.tile_n));
}

std::vector<Profile> legacy_profiles(const LegacyOption& option,
                                     const LegacyProblem& problem,
                                     const LegacyConstants& constants) {
  const LegacyKernel& kernel = *option.kernel;
  const Cut cut = cut_of(option, problem);
  Profile profile;
  profile.kernel = kernel.name;
  profile.family = "gemm";
  const double units = cut.tiles * static_cast<double>(cut.slices);
  profile.units = static_cast<int64_t>(std::min(9e15, units));
  profile.ctas = profile.units;
  profile.threads = kernel.threads;
  profile.ctas_per_sm = legacy_residents(kernel, problem.chip.core);
  if (kernel.engine == Engine::Warpgroup) {
    // Persistent, one CTA an SM. Of tiles that one warpgroup holds, two are worked on in turn.
    profile.ctas_per_sm = kernel.tile_m * kernel.tile_n <= kPingPong ? 2 : 1;
    profile.ctas = std::min(profile.units, problem.chip.core.count * profile.ctas_per_sm);
    profile.fixed = constants.group_fixed;
  }
  profile.kinds.push_back({units,
                           {main_loop(kernel, problem, constants, cut.steps),
                            epilogue(kernel, problem, constants, cut)}});
  profile.traffic = traffic_of(kernel, problem, cut);
  profile.extra_nodes = cut.accumulate ? 1 : 0;
  profile.reasons.push_back(cut.slices > 1
                                ? fmt::format("{} slices of k on {} tiles", cut.slices, cut.tiles)
                                : fmt::format("{} tiles", cut.tiles));
  std::vector<Profile> sequence{std::move(profile)};
  if (option.sum == Slices::ByTile) {
    sequence.push_back(sum_by_tile(kernel, problem, constants, cut));
  } else if (option.sum == Slices::ByElement) {
    sequence.push_back(split_sum_profile(
        problem.call, cut.slices, cut.element, problem.out, constants.element_sum));
  }
  return sequence;
}

}  // namespace orrery::library
