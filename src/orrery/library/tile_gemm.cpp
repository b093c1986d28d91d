// Tiled products: the rough estimate that thins launches, and their profiles.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/tile_gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/gemm_types.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

constexpr double kWarp = 32;
constexpr double kPartial = 4;      // bytes of an element of a slice
constexpr int64_t kLeastSteps = 4;  // of a slice

// What a launch does, in numbers.
struct Sizes {
  double tiles = 0;  // with the batch, whole clusters
  double units = 0;
  int64_t steps = 0;  // of a unit
  double sms = 1;
  double residents = 1;
  double a = 2;         // bytes of an element of A in a step,
  double b = 2;         // and of B
  double elements = 0;  // of k in a step
};

int64_t up_to(int64_t value, int64_t multiple) {
  return ceil_div(value, multiple) * multiple;
}

Sizes sizes_of(const TileSet& set,
               const TileLaunch& launch,
               const GemmCall& call,
               const machine::Chip& chip) {
  const TileKernel& tile = *launch.kernel;
  Sizes sizes;
  sizes.a = element_size(call.input).value();
  sizes.b = sizes.a * (call.quantisation == Quantisation::Int4Weights   ? 0.25
                       : call.quantisation == Quantisation::Int8Weights ? 0.5
                                                                        : 1);
  sizes.elements = static_cast<double>(tile.step) / sizes.a;
  sizes.tiles = product(call.batch,
                        up_to(ceil_div(call.m, tile.m), launch.cluster.m),
                        up_to(ceil_div(call.n, tile.n), launch.cluster.n));
  sizes.units = sizes.tiles * static_cast<double>(launch.slices);
  const auto steps = static_cast<int64_t>(std::ceil(static_cast<double>(call.k) / sizes.elements));
  sizes.steps = ceil_div(steps, launch.slices);
  sizes.sms = static_cast<double>(chip.core.count);
  sizes.residents = static_cast<double>(tile_residents(set, tile, chip.core));
  return sizes;
}

// L2 bytes per byte of rows of `row` bytes.
double pitch(const TileSet& set, double row) {
  return std::fmod(row, 32) != 0 ? set.pitch_32 : std::fmod(row, 128) != 0 ? set.pitch_128 : 1;
}

// Bytes of L2 that a step draws: CTAs of a cluster share rows along its sides.
double drawn(const TileSet& set,
             const TileLaunch& launch,
             const Sizes& sizes,
             const GemmCall& call) {
  const double rows = static_cast<double>(launch.kernel->m) / static_cast<double>(launch.cluster.n);
  const double columns =
      static_cast<double>(launch.kernel->n) / static_cast<double>(launch.cluster.m);
  return sizes.elements * (rows * sizes.a + columns * sizes.b) *
         pitch(set, product(call.k) * sizes.a);
}

// Bytes of shared memory that a step reads and writes beside the copy engine.
double shared_bytes(const TileSet& set, const TileLaunch& launch) {
  const TileKernel& tile = *launch.kernel;
  const auto longer = static_cast<double>(std::max(tile.m, tile.n));
  const auto shorter = static_cast<double>(std::min(tile.m, tile.n));
  const auto step = static_cast<double>(tile.step);
  switch (set.engine) {
    case TileEngine::Mma:
      return (product(tile.m, tile.warps_n) + product(tile.n, tile.warps_m) +
              static_cast<double>(tile.m + tile.n)) *
             step;
    case TileEngine::Wgmma:
      return std::ceil(longer / 64) * (64 + shorter) * step;
    case TileEngine::Tcgen05:
      return (longer + shorter / (launch.cluster.m * launch.cluster.n > 1 ? 2 : 1)) * step;
  }
  return 0;
}

double step_flops(const TileKernel& tile, const Sizes& sizes) {
  return 2 * product(tile.m, tile.n) * sizes.elements;
}

// The share of the chip's matrix rate that the instruction class reaches.
double share_of(const TileSet& set, const machine::Core& core) {
  return set.tensor_share * (set.engine == TileEngine::Mma ? core.warp_mma : 1);
}

double floor_of(const TileSet& set, const TileCluster& cluster) {
  const double ctas = product(cluster.m, cluster.n);
  return set.step_floor + set.cluster_floor * ctas * ctas / 64;
}

double rough_clocks(const TileSet& set,
                    const TileLaunch& launch,
                    const GemmCall& call,
                    const machine::Chip& chip) {
  const TileKernel& tile = *launch.kernel;
  const Sizes sizes = sizes_of(set, launch, call, chip);
  const double rate = chip.core.tensor.at(call.input).value() * share_of(set, chip.core);
  const double bytes = drawn(set, launch, sizes, call);
  const double busy = std::max({step_flops(tile, sizes) / rate,
                                bytes / chip.core.l2_port.value(),
                                shared_bytes(set, launch) / chip.core.shared_bandwidth.value()});
  const double waves = std::ceil(sizes.units / sizes.sms);
  const double together = std::min(sizes.residents, waves);
  const double step = std::max(busy, floor_of(set, launch.cluster) / together);
  const double epilogue = product(tile.m, tile.n) * set.epilogue_instructions /
                          static_cast<double>(chip.core.schedulers);
  const double outside = set.engine == TileEngine::Tcgen05 ? epilogue / waves : epilogue;
  double core = waves * (static_cast<double>(sizes.steps) * step + outside + set.cta / together);
  const double l2 = sizes.units * static_cast<double>(sizes.steps) * bytes;
  core = std::max(core, l2 / chip.l2.bandwidth.value());
  if (launch.slices > 1) {
    const double partial = product(call.batch, call.m, call.n, launch.slices) * 2 * kPartial;
    core += chip.launch.graph_gap.seconds().value() * chip.clock.max.value() +
            partial / chip.l2.bandwidth.value();
  }
  return core;
}

// A side more than twice what there is to do wastes more than a smaller tile would; nor is a
// cluster taken of which a quarter is idle.
bool fits(const TileSet& set,
          const TileKernel& tile,
          const TileCluster& c,
          const GemmCall& call,
          const machine::Core& core) {
  if (product(tile.m + tile.n, tile.step, tile.stages) > core.shared_per_cta.value()) {
    return false;
  }
  int64_t least_m = tile.m;
  int64_t least_n = tile.n;
  for (const TileKernel& other : set.tiles) {
    least_m = std::min(least_m, other.m);
    least_n = std::min(least_n, other.n);
  }
  const bool tall = tile.m > std::max<int64_t>(64, least_m) && tile.m >= 2 * call.m;
  const bool wide = tile.n > std::max<int64_t>(128, least_n) && tile.n >= 2 * call.n;
  const int64_t rows = ceil_div(call.m, tile.m);
  const int64_t columns = ceil_div(call.n, tile.n);
  return !tall && !wide && 4 * rows >= 3 * c.m && 4 * columns >= 3 * c.n;
}

ProfilePhase main_loop(const TileSet& set,
                       const TileLaunch& launch,
                       const Sizes& sizes,
                       const GemmCall& call,
                       const machine::Chip& chip) {
  const TileKernel& tile = *launch.kernel;
  ProfilePhase phase;
  phase.name = "main loop";
  phase.trips = static_cast<double>(sizes.steps);
  phase.ring = std::max<int64_t>(2, tile.stages);
  phase.work.tensor = Flops(step_flops(tile, sizes));
  phase.work.tensor_type = call.input;
  phase.work.tensor_share = share_of(set, chip.core);
  phase.work.shared_read = Bytes(shared_bytes(set, launch));
  phase.work.l2_read = Bytes(drawn(set, launch, sizes, call));
  phase.work.issue = Instructions(product(tile.n) * sizes.elements * set.conversions / kWarp);
  phase.chain.memory = 1;
  phase.chain.fixed = Cycles(floor_of(set, launch.cluster));
  return phase;
}

ProfilePhase epilogue(const TileSet& set, const TileLaunch& launch, double element) {
  const double elements = product(launch.kernel->m, launch.kernel->n);
  ProfilePhase phase;
  phase.name = "epilogue";
  phase.work.issue = Instructions(elements * set.epilogue_instructions);
  phase.work.l2_write = Bytes(elements * (launch.slices > 1 ? kPartial : element));
  return phase;
}

// The phases of a unit. Where tensor memory holds two accumulators, the epilogue works beside the
// next tile's steps, and only the last one is seen.
std::vector<ProfilePhase> phases_of(const TileSet& set,
                                    const TileLaunch& launch,
                                    const Sizes& sizes,
                                    const GemmCall& call,
                                    const machine::Chip& chip) {
  ProfilePhase loop = main_loop(set, launch, sizes, call, chip);
  ProfilePhase store = epilogue(set, launch, element_size(call.output).value());
  if (set.engine == TileEngine::Tcgen05) {
    loop.work.issue = loop.work.issue + Instructions(store.work.issue.value() / loop.trips);
    store.work.l2_write = Bytes(0.0);
    store.trips = 1 / std::max(1.0, std::ceil(sizes.units / sizes.sms));
  }
  std::vector<ProfilePhase> phases;
  if (set.cta > 0) {
    ProfilePhase start;
    start.name = "prologue";
    start.chain.fixed = Cycles(set.cta);
    phases.push_back(std::move(start));
  }
  phases.insert(phases.begin(), std::move(loop));
  phases.push_back(std::move(store));
  return phases;
}

// Reads from DRAM: a wave of tiles, a square patch of C, reads its rows and columns once; what
// exceeds L2 is read again by the next wave.
double dram_read(const TileKernel& tile, const Sizes& sizes, const GemmCall& call, double unique) {
  const double wave = sizes.sms * sizes.residents;
  const double area = wave * product(tile.m, tile.n);
  const double columns = std::min(std::sqrt(area), static_cast<double>(call.n));
  const double rows = std::min(area / columns, static_cast<double>(call.m));
  const double patch = (columns * sizes.b + rows * sizes.a) * product(call.k);
  return std::max(unique, std::max(1.0, sizes.tiles / wave) * patch);
}

kernel::Traffic traffic_of(const TileSet& set,
                           const TileLaunch& launch,
                           const Sizes& sizes,
                           const GemmCall& call,
                           const machine::Chip& chip) {
  const double rows = activation_bytes(call).value();
  const double unique = rows + weight_bytes(call).value();
  const double result = result_bytes(call).value();
  const bool cut = launch.slices > 1;
  const double written =
      cut ? product(call.batch, call.m, call.n, launch.slices) * kPartial : result;
  const bool partial = !cut && std::fmod(product(call.n) * element_size(call.output).value(),
                                         chip.l2.sector.value()) != 0;
  const double read =
      unique <= chip.l2.effective.value() ? unique : dram_read(*launch.kernel, sizes, call, unique);
  return {.unique_read = Bytes(unique),
          .recent_read = Bytes(rows),
          .unique_write = Bytes(written),
          .dram_read = Bytes(read + (partial ? written : 0)),
          .dram_write = Bytes(written),
          .l2_read = Bytes(sizes.units * static_cast<double>(sizes.steps) *
                           drawn(set, launch, sizes, call)),
          .l2_write = Bytes(written)};
}

std::string name_of(const TileSet& set, const TileLaunch& launch, const GemmCall& call) {
  const TileKernel& tile = *launch.kernel;
  const std::string slices = launch.slices > 1 ? fmt::format("_split{}", launch.slices) : "";
  const std::string cluster = launch.cluster.m * launch.cluster.n > 1
                                  ? fmt::format("_{}x{}", launch.cluster.m, launch.cluster.n)
                                  : "";
  return fmt::format("{}_{}_{}x{}x{}B_{}{}{}",
                     set.name,
                     types_name(call),
                     tile.m,
                     tile.n,
                     tile.step,
                     tile.stages,
                     cluster,
                     slices);
}

}  // namespace

int64_t tile_residents(const TileSet& set, const TileKernel& kernel, const machine::Core& core) {
  if (set.engine != TileEngine::Mma) {
    return 1;
  }
  constexpr int64_t kMost = 4;
  const double shared = product(kernel.m + kernel.n, kernel.step, kernel.stages);
  return std::min(kMost, occupancy(core, kernel.threads, kernel.registers, shared));
}

std::vector<TileLaunch> tile_launches(const TileSet& set,
                                      const GemmCall& call,
                                      const machine::Chip& chip) {
  constexpr size_t kMost = 12;
  constexpr double kNear = 1.6;  // of the least rough estimate
  std::vector<TileLaunch> all;
  const auto offer = [&](const TileKernel& tile, const TileCluster& cluster) {
    for (const int64_t slices : set.slices) {
      TileLaunch launch{.kernel = &tile, .cluster = cluster, .slices = slices};
      const Sizes sizes = sizes_of(set, launch, call, chip);
      if (slices > 1 && (sizes.steps < kLeastSteps || call.batch > 1)) {
        continue;
      }
      launch.rough = rough_clocks(set, launch, call, chip);
      all.push_back(launch);
    }
  };
  for (const TileKernel& tile : set.tiles) {
    for (const TileCluster& cluster : set.clusters) {
      if (fits(set, tile, cluster, call, chip.core)) {
        offer(tile, cluster);
      }
    }
  }
  if (all.empty()) {
    offer(set.tiles.front(), {});
  }
  std::stable_sort(
      all.begin(), all.end(), [](const auto& x, const auto& y) { return x.rough < y.rough; });
  size_t keep = 1;
  while (keep < std::min(kMost, all.size()) && all[keep].rough <= kNear * all.front().rough) {
    ++keep;
  }
  all.resize(keep);
  return all;
}

std::vector<Profile> tile_profiles(const TileSet& set,
                                   const TileLaunch& launch,
                                   const GemmCall& call,
                                   const machine::Chip& chip,
                                   const SplitSum& sum) {
  const Sizes sizes = sizes_of(set, launch, call, chip);
  Profile profile;
  profile.kernel = name_of(set, launch, call);
  profile.family = "gemm";
  profile.units = whole(sizes.units);
  profile.threads = launch.kernel->threads;
  profile.cluster = launch.cluster.m * launch.cluster.n;
  profile.ctas_per_sm = static_cast<int64_t>(sizes.residents);
  profile.ctas =
      set.engine == TileEngine::Mma ? profile.units : std::min(profile.units, chip.core.count);
  profile.kinds.push_back({sizes.units, phases_of(set, launch, sizes, call, chip)});
  profile.traffic = traffic_of(set, launch, sizes, call, chip);
  profile.fixed = set.fixed + set.row * static_cast<double>(call.m);
  profile.behaviour.dram_share = set.dram_share;
  profile.behaviour.overlap = set.overlap;
  profile.behaviour.relative_error = set.error;
  profile.reasons.push_back(
      fmt::format("{} tiles, {} of {} SMs in a wave, least time among the tiles that exist",
                  whole(sizes.tiles),
                  whole(std::min(sizes.units, sizes.sms)),
                  chip.core.count));
  std::vector<Profile> sequence{std::move(profile)};
  if (launch.slices > 1) {
    sequence.push_back(
        split_sum_profile(call, launch.slices, kPartial, element_size(call.output).value(), sum));
    sequence.back().behaviour.relative_error = set.error;
  }
  return sequence;
}

}  // namespace orrery::library
