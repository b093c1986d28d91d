// A convolution as a product: cuDNN's tensor kernels tile by tile, and its kernel on fp32 lanes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "orrery/library/cudnn_conv_internal.h"

namespace orrery::library::conv {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

// A product cut into tiles.
struct Grid {
  double tiles = 0;
  int64_t columns = 0;     // tiles along the filters
  int64_t steps = 0;       // of a tile
  double used_pixels = 1;  // shares of the tiles that hold data
  double used_filters = 1;
  double used_channels = 1;
  bool partial = false;  // boxes that hold less than a step's channels
};

double share(int64_t all, int64_t part) {
  return static_cast<double>(all) / product(ceil_div(all, part), part);
}

Grid grid_of(const Tile& tile, const Product& work) {
  Grid grid;
  const int64_t slabs = ceil_div(work.channels, tile.k);
  grid.columns = ceil_div(work.filters, tile.n);
  grid.tiles = work.products * product(ceil_div(work.pixels, tile.m), grid.columns);
  grid.steps = work.taps * slabs;
  grid.used_pixels = share(work.pixels, tile.m);
  grid.used_filters = share(work.filters, tile.n);
  grid.used_channels = share(work.channels, tile.k);
  grid.partial = work.channels % tile.k != 0;
  return grid;
}

DType multiplied(const Problem& problem) {
  return problem.half ? problem.call.dtype : DType::TF32;
}

// Bytes of a step: boxes outside the image or the filters are not read.
double step_bytes(const Tile& tile, const Grid& grid, double element) {
  const double rows = static_cast<double>(tile.m) * grid.used_pixels +
                      static_cast<double>(tile.n) * grid.used_filters;
  return rows * static_cast<double>(tile.k) * grid.used_channels * element;
}

void set_traffic(Profile& profile, const Product& work, double l2_read) {
  const double read = work.image + work.weights;
  profile.traffic = {.unique_read = Bytes(read),
                     .recent_read = Bytes(work.converted ? read : work.image),
                     .unique_write = Bytes(work.result),
                     .dram_read = Bytes(read),
                     .dram_write = Bytes(work.result),
                     .l2_read = Bytes(l2_read),
                     .l2_write = Bytes(work.result)};
}

ProfilePhase wgmma_step(const Problem& problem, const Tile& tile, const Grid& grid) {
  const WgmmaTable& table = problem.table.wgmma;
  const double element = problem.element;
  const auto m = static_cast<double>(tile.m);
  const auto n = static_cast<double>(tile.n);
  const double width = product(tile.k, element);
  ProfilePhase phase;
  phase.name = "main loop";
  phase.trips = static_cast<double>(grid.steps);
  // Each of these kernels takes all of it: ring of stages.
  const double shared = problem.chip.core.shared_per_cta.value();
  phase.ring = std::max<int64_t>(2, static_cast<int64_t>(shared / ((m + n) * width)));
  phase.work.tensor = Flops(2 * m * n * static_cast<double>(tile.k));
  phase.work.tensor_type = multiplied(problem);
  phase.work.tensor_share = table.tensor_share;
  phase.work.shared_read = Bytes(std::ceil(m / 64) * (64 + n) * width);
  phase.work.l2_read = Bytes(step_bytes(tile, grid, element));
  phase.chain.memory = 1;
  double chain = table.step_floor;
  if (!problem.half) {
    chain = std::max(chain, table.tf32_row * m / static_cast<double>(tile.count));
  }
  if (grid.partial) {
    chain = std::max(chain, m * width / table.partial_rate);
  }
  phase.chain.fixed = Cycles(chain);
  return phase;
}

ProfilePhase epilogue(const Problem& problem, const Tile& tile, double instructions, double wait) {
  ProfilePhase phase;
  phase.name = "epilogue";
  const double elements = product(tile.m, tile.n);
  phase.work.issue = Instructions(elements * instructions);
  phase.work.l2_write = Bytes(elements * problem.element);
  phase.chain.fixed = Cycles(wait);
  return phase;
}

// Persistent, one CTA of 384 threads an SM. The raster of a single column of tiles is 8 wide, so
// that 15 x 8 CTAs run; of more columns all SMs do (geometry of 701 launches).
Profile wgmma_kernel(const Problem& problem,
                     const Product& work,
                     const Tile& tile,
                     bool segmented) {
  const WgmmaTable& table = problem.table.wgmma;
  const Grid grid = grid_of(tile, work);
  Profile profile = named("sm90_xmma_fprop_implicit_gemm_" + tile.name +
                              (segmented ? "_segment_k_on" : "_segment_k_off"),
                          problem.table.error);
  profile.threads = 384;
  profile.reasons.emplace_back("one of cuDNN's wgmma tiles: the fastest by prediction");
  const int64_t sms = problem.chip.core.count;
  profile.usable_sms = grid.columns == 1 ? std::max<int64_t>(1, sms * 10 / 11) : sms;
  ProfilePhase steps = wgmma_step(problem, tile, grid);
  double units = grid.tiles;
  profile.fixed = table.fixed;
  if (segmented) {  // the steps of all tiles, dealt out evenly
    units = std::min(static_cast<double>(profile.usable_sms), grid.tiles * steps.trips);
    steps.trips *= grid.tiles / units;
    profile.fixed += table.segment_fixed;
  }
  set_units(profile, {{units, {steps, epilogue(problem, tile, table.epilogue, table.tile)}}});
  profile.ctas = std::min(profile.units, profile.usable_sms);
  set_traffic(
      profile, work, grid.tiles * static_cast<double>(grid.steps) * steps.work.l2_read.value());
  return profile;
}

Profile mma_kernel(const Problem& problem, const Product& work, const Tile& tile) {
  const MmaTable& table = problem.table.mma;
  const Grid grid = grid_of(tile, work);
  const double volume = product(tile.m, tile.n, tile.k);
  Profile profile = named("mma_fprop_implicit_gemm_" + tile.name, problem.table.error);
  profile.threads = 128;
  profile.ctas_per_sm = tile.count;
  profile.reasons.emplace_back("one of cuDNN's mma.sync tiles: the fastest by prediction");
  ProfilePhase steps;
  steps.name = "main loop";
  steps.trips = static_cast<double>(grid.steps);
  steps.ring = 4;
  steps.work.tensor = Flops(2 * volume);
  steps.work.tensor_type = multiplied(problem);
  steps.work.tensor_share = table.tensor_share;
  steps.work.l2_read = Bytes(step_bytes(tile, grid, problem.element));
  steps.chain.memory = 1;
  steps.chain.fixed = Cycles(table.step_floor + table.step * volume / 65536);
  if (work.piece > 0) {
    steps.chain.fixed =
        steps.chain.fixed + Cycles(table.unaligned / static_cast<double>(work.piece) *
                                   product(tile.m + tile.n, tile.k));
  }
  set_units(profile, {{grid.tiles, {steps, epilogue(problem, tile, table.epilogue, table.tile)}}});
  set_traffic(
      profile, work, grid.tiles * static_cast<double>(grid.steps) * steps.work.l2_read.value());
  profile.fixed = table.fixed;
  return profile;
}

// Tiles that waste three quarters of their filters are never taken.
bool fits(const Tile& tile, const Product& work) {
  return tile.n <= 32 || product(work.filters, 4) > static_cast<double>(tile.n);
}

// The library cuts along K where the last of few rounds would leave SMs idle, not to make more of
// tiles that do not fill one round (57 of 60 launches).
bool cut(const Problem& problem, const Tile& tile, const Product& work) {
  const Grid grid = grid_of(tile, work);
  const double rounds = grid.tiles / static_cast<double>(problem.chip.core.count);
  return rounds > 1 && rounds < 8 && std::ceil(rounds) / rounds > 1.2 && grid.steps >= 18;
}

}  // namespace

Product product_of(const Problem& problem) {
  const ConvCall& call = problem.call;
  Product work;
  work.pixels = problem.pixels();
  work.filters = problem.k;
  work.channels = problem.c;
  work.taps = problem.taps();
  // Strides beyond the filter skip pixels.
  const auto seen = [&](int64_t size) {
    return std::min(1.0, static_cast<double>(size) / static_cast<double>(call.stride));
  };
  work.image = problem.image() * seen(call.r) * seen(call.s);
  work.weights = problem.filters();
  work.result = problem.result();
  return work;
}

std::vector<Profile> mma_kernels(const Problem& problem, const Product& work) {
  std::vector<Profile> kernels;
  const MmaTable& table = problem.table.mma;
  for (const Tile& tile : problem.half ? table.half : table.tf32) {
    if (fits(tile, work)) {
      kernels.push_back(mma_kernel(problem, work, tile));
    }
  }
  return kernels;
}

std::vector<Profile> tensor_kernels(const Problem& problem, const Product& work) {
  std::vector<Profile> kernels = mma_kernels(problem, work);
  constexpr int64_t kMostTaps = 25;  // 5 x 5; none of 40 launches of 7 x 7 filters is one of these
  if (work.taps > kMostTaps) {
    return kernels;
  }
  const WgmmaTable& table = problem.table.wgmma;
  for (const Tile& tile : problem.half ? table.half : table.tf32) {
    if (!fits(tile, work)) {
      continue;
    }
    kernels.push_back(wgmma_kernel(problem, work, tile, false));
    if (cut(problem, tile, work)) {
      kernels.push_back(wgmma_kernel(problem, work, tile, true));
    }
  }
  return kernels;
}

// 64 threads, 32 pixels x 32 filters; 92 registers: 10 CTAs an SM.
Profile direct_kernel(const Problem& problem) {
  const DirectTable& table = problem.table.direct;
  Profile profile = named("implicit_convolve_sgemm", problem.table.error);
  profile.threads = 64;
  profile.ctas_per_sm = 10;
  profile.reasons.emplace_back("few channels: fp32 lanes, without padding or transposes");
  ProfilePhase steps;
  steps.name = "main loop";
  steps.trips = product(problem.c, problem.taps());
  steps.work.fma = 32 * 32;
  steps.work.issue = Instructions(table.instructions);
  steps.chain.fixed = Cycles(table.step);
  const double tiles =
      product(ceil_div(problem.pixels(), 32), ceil_div(problem.k, 32), problem.call.groups);
  set_units(profile, {{tiles, {steps}}});
  profile.traffic = streamed(problem.image() + problem.filters(), problem.result());
  profile.traffic.recent_read = Bytes(problem.image());
  profile.fixed = table.fixed;
  return profile;
}

// internal::gemvx::kernel: a warp a row or a few of the filters, one after the other.
Profile vector_kernel(const Problem& problem) {
  Profile profile = named("gemvx", problem.table.error);
  profile.threads = 128;
  profile.ctas_per_sm = 8;
  ProfilePhase rows;
  rows.name = "rows";
  rows.chain.memory = 1;
  rows.trips = std::max(1.0, product(problem.c, problem.element) / 512);
  rows.work.l2_read = Bytes(4 * 512);
  set_units(profile, {{static_cast<double>(ceil_div(problem.k, 4)), {rows}}});
  profile.traffic = streamed(problem.image() + problem.filters(), problem.result());
  profile.traffic.recent_read = Bytes(problem.image());
  return profile;
}

}  // namespace orrery::library::conv
