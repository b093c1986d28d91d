// cuBLAS' older kernels: the ways to launch one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include "orrery/library/counts.h"
#include "orrery/library/cublas_legacy.h"

namespace orrery::library {
namespace {

// Slices that a second kernel adds. Of 58 cut launches nearly all have as many slices as fill each
// SM with one, two, three or four CTAs, floor(count * SMs / tiles), or fewer where k is short: 66
// to 100 of k a slice.
void add_cut(const LegacyKernel& kernel,
             const LegacyProblem& problem,
             std::vector<LegacyOption>& options) {
  constexpr int64_t kShortest = 64;
  const double tiles = legacy_tiles(kernel, problem.call);
  const int64_t most = std::min<int64_t>(4, legacy_residents(kernel, problem.chip.core));
  int64_t before = 1;
  for (int64_t each = 1; each <= most; ++each) {
    const auto fill =
        static_cast<int64_t>(std::floor(product(problem.chip.core.count, each) / tiles));
    const int64_t slices = std::min(fill, problem.call.k / kShortest);
    if (slices > before) {
      options.push_back({.kernel = &kernel, .slices = slices, .sum = kernel.sum});
      before = slices;
    }
  }
}

// Slices that add to C in place, after a memset: large grids and deep k, as many as fill the last
// wave best (6 of 6 launches lie within 2 % of the best).
void add_in_place(const LegacyKernel& kernel,
                  const LegacyProblem& problem,
                  std::vector<LegacyOption>& options) {
  constexpr double kLeastTiles = 100;
  constexpr int64_t kMost = 9;
  constexpr int64_t kShortest = 256;
  const double tiles = legacy_tiles(kernel, problem.call);
  if (tiles < kLeastTiles) {
    return;
  }
  const double slots =
      product(problem.chip.core.count, legacy_residents(kernel, problem.chip.core));
  int64_t best = 1;
  double filled = 0;
  for (int64_t slices = 2; slices <= kMost && problem.call.k / slices >= kShortest; ++slices) {
    const double waves = tiles * static_cast<double>(slices) / slots;
    const double share = waves / std::ceil(waves);
    if (share > filled + 0.01) {
      best = slices;
      filled = share;
    }
  }
  if (best > 1) {
    options.push_back({.kernel = &kernel, .slices = best, .sum = Slices::InPlace});
  }
}

// A launch that the library takes for small products whatever it costs.
struct SmallLaunch {
  int64_t tile_m = 0;
  int64_t tile_n = 0;
  int64_t slices = 1;
  Slices sum = Slices::ByElement;
};

// fp32, up to 96 columns: CUTLASS' kernels, 4 of k a slice (11 of 11 launches). Beyond 64 rows only
// where k is short.
std::optional<SmallLaunch> narrow_fp32(const GemmCall& call, int64_t sms) {
  const bool few = call.m <= 64 && call.k < 384;
  const bool short_k = call.m > 64 && call.m <= 384 && call.k <= 128;
  if (!few && !short_k) {
    return std::nullopt;
  }
  SmallLaunch launch{.tile_m = 64, .tile_n = call.n <= 64 ? 64 : 128};
  if (call.n <= 64 && call.m > 192) {
    launch.tile_m = launch.tile_n = 128;
  }
  launch.slices = std::min(2 * sms / ceil_div(call.m, launch.tile_m), ceil_div(call.k, 4));
  return launch;
}

// fp32, at most 64 rows by 97 to 176 columns: cut as finely as the grid allows, far more than pays
// (26 us for 48 x 136 x 40): 5 of 5 launches, 136 to 168 columns, k from 40. 248 columns are not.
std::optional<SmallLaunch> wide_fp32(const GemmCall& call, int64_t sms) {
  constexpr int64_t kShortest = 32;
  if (call.m > 64 || call.n > 176 || call.k >= 384 || call.k < kShortest) {
    return std::nullopt;
  }
  SmallLaunch launch{.tile_m = 64, .tile_n = 64, .sum = Slices::ByTile};
  if (call.m <= 16) {
    launch.tile_m = 32;
    launch.tile_n = 128;
  }
  const int64_t tiles = ceil_div(call.m, launch.tile_m) * ceil_div(call.n, launch.tile_n);
  launch.slices = sms * (call.m <= 16 ? 4 : 2) / tiles;
  return launch;
}

// tf32 of at most 8 tiles of 64 x 64: a slice for each 32 of k up to 128, 64 beyond (8 of 9
// launches; the products of 10 tiles and more with k up to 128 are whole).
std::optional<SmallLaunch> small_tf32(const GemmCall& call) {
  constexpr int64_t kTile = 64;
  if (call.k < kTile || call.k >= 512 || ceil_div(call.m, kTile) * ceil_div(call.n, kTile) > 8) {
    return std::nullopt;
  }
  return SmallLaunch{kTile, kTile, ceil_div(call.k, call.k <= 128 ? 32 : 64)};
}

// bf16 whose rows are single elements: 8 of k a slice where tiles are few (8 of 9 launches).
std::optional<SmallLaunch> small_odd(const GemmCall& call) {
  constexpr int64_t kMostTiles = 6;
  for (const int64_t tile : {64, 128}) {
    if (ceil_div(call.m, tile) * ceil_div(call.n, tile) <= kMostTiles &&
        call.k < (tile == 64 ? 200 : 64)) {
      return SmallLaunch{tile, tile, ceil_div(call.k, 8)};
    }
  }
  return std::nullopt;
}

// fp32, 16 rows of deep k: two warps on 32 x 128, eight slices whatever the columns (2 of 2
// launches; k up to 384 is not).
std::optional<SmallLaunch> deep_fp32(const GemmCall& call) {
  constexpr int64_t kDeep = 1024;
  if (call.m > 16 || call.k < kDeep) {
    return std::nullopt;
  }
  return SmallLaunch{.tile_m = 32, .tile_n = 128, .slices = 8, .sum = Slices::ByTile};
}

std::optional<SmallLaunch> small_launch(const LegacyKernel& kernel, const LegacyProblem& problem) {
  const GemmCall& call = problem.call;
  if (call.batch > 1) {
    return std::nullopt;
  }
  if (call.input == DType::F32 && call.m >= 16) {
    const int64_t sms = problem.chip.core.count;
    return call.n <= 96    ? narrow_fp32(call, sms)
           : call.n <= 192 ? wide_fp32(call, sms)
                           : deep_fp32(call);
  }
  if (call.input == DType::TF32 && kernel.engine == Engine::Warp && kernel.access == 16) {
    return small_tf32(call);
  }
  if (call.input == DType::BF16 && kernel.access == 2 && call.m > 1) {
    return small_odd(call);
  }
  return std::nullopt;
}

// Adds the launch that a small product always takes, if `kernel` is the one.
bool small_rule(const LegacyKernel& kernel,
                const LegacyProblem& problem,
                std::vector<LegacyOption>& options) {
  const auto launch = small_launch(kernel, problem);
  if (!launch || kernel.sum != launch->sum || kernel.tile_m != launch->tile_m ||
      kernel.tile_n != launch->tile_n) {
    return false;
  }
  options.push_back({.kernel = &kernel,
                     .slices = launch->slices,
                     .sum = launch->slices > 1 ? kernel.sum : Slices::Whole});
  return true;
}

}  // namespace

std::vector<LegacyOption> legacy_options(const std::vector<const LegacyKernel*>& kernels,
                                         const LegacyProblem& problem) {
  std::vector<LegacyOption> options;
  for (const LegacyKernel* kernel : kernels) {
    if (small_rule(*kernel, problem, options)) {
      return {options.back()};
    }
    options.push_back({.kernel = kernel});
    if (kernel->sum == Slices::Whole || problem.call.batch > 1) {
      continue;
    }
    add_cut(*kernel, problem, options);
    if (kernel->engine == Engine::Lanes || kernel->stages > 1) {
      add_in_place(*kernel, problem, options);
    }
  }
  return options;
}

}  // namespace orrery::library
