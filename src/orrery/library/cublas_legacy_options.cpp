// cuBLAS' older kernels: the ways to launch one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

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

// fp32 products of at most 64 x 192 and short k are cut as finely as the grid allows, far more than
// pays (26 us for 48 x 136 x 40): 16 of 16 launches.
bool tiny_rule(const LegacyKernel& kernel,
               const LegacyProblem& problem,
               std::vector<LegacyOption>& options) {
  const GemmCall& call = problem.call;
  if (call.input != DType::F32 || call.batch > 1 || call.m > 64 || call.n > 192 || call.k >= 384 ||
      call.m < 16) {
    return false;
  }
  const bool narrow = call.n <= 96;  // CUTLASS' kernels, 4 of k a slice
  const int64_t tile_m = narrow ? 64 : call.m <= 16 ? 32 : 64;
  const int64_t tile_n = narrow && call.n <= 64 ? 64 : narrow || call.m <= 16 ? 128 : 64;
  if (kernel.sum != (narrow ? Slices::ByElement : Slices::ByTile) || kernel.tile_m != tile_m ||
      kernel.tile_n != tile_n) {
    return false;
  }
  const int64_t fill = problem.chip.core.count * (call.m <= 16 && !narrow ? 4 : 2) /
                       static_cast<int64_t>(legacy_tiles(kernel, call));
  const int64_t slices = narrow ? std::min(fill, std::max<int64_t>(1, call.k / 4)) : fill;
  options.push_back(
      {.kernel = &kernel, .slices = slices, .sum = slices > 1 ? kernel.sum : Slices::Whole});
  return true;
}

}  // namespace

std::vector<LegacyOption> legacy_options(const std::vector<const LegacyKernel*>& kernels,
                                         const LegacyProblem& problem) {
  std::vector<LegacyOption> options;
  for (const LegacyKernel* kernel : kernels) {
    if (tiny_rule(*kernel, problem, options)) {
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
