// The GEMM family: configurations worth timing for given extents on a chip.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "orrery/kernel/family/gemm_internal.h"
#include "orrery/kernel/family/ring_depth_internal.h"

namespace orrery::kernel {
namespace {

struct Tile {
  int64_t rows = 0;  // on the instruction's rows
  int64_t columns = 0;
  int64_t warps = 0;
};

// sm_90a: two warpgroups with 64 or 128 rows each, or one with 64.
constexpr std::array kWideTiles = {Tile{128, 256, 8},
                                   Tile{128, 224, 8},
                                   Tile{128, 192, 8},
                                   Tile{128, 160, 8},
                                   Tile{128, 128, 8},
                                   Tile{128, 96, 8},
                                   Tile{128, 64, 8},
                                   Tile{256, 128, 8},
                                   Tile{256, 96, 8},
                                   Tile{256, 64, 8},
                                   Tile{64, 256, 4},
                                   Tile{64, 128, 4},
                                   Tile{64, 64, 4}};
constexpr std::array kCdnaTiles = {Tile{256, 128, 4},
                                   Tile{128, 256, 4},
                                   Tile{128, 128, 4},
                                   Tile{128, 64, 4},
                                   Tile{64, 128, 4},
                                   Tile{64, 64, 4},
                                   Tile{32, 64, 2}};
constexpr int64_t kSwapBelow = 128;  // m up to here may lie on the instruction's columns
constexpr int64_t kMaxRing = 12;
constexpr int64_t kMaxParts = 16;
constexpr int64_t kMinSteps = 4;  // of k per part: below, the ring never fills

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// Numbers of parts worth trying: none, and those which fill the chip once with this many tiles.
std::vector<int64_t> part_counts(int64_t tiles, int64_t steps, int64_t slots) {
  std::vector<int64_t> counts = {1};
  for (int64_t parts = 2; parts <= kMaxParts; parts *= 2) {
    if (tiles * parts <= 2 * slots && steps / parts >= kMinSteps) {
      counts.push_back(parts);
    }
  }
  return counts;
}

class Candidates {
 public:
  Candidates(const GemmExtents& extents, const machine::Chip& chip)
      : extents_(extents), chip_(chip) {}

  /// Adds `config` with the deepest ring, once for every number of parts, if there is such a
  /// kernel.
  void add(GemmConfig config) {
    config.ring = 2;
    const Result<Program> two = gemm_program(config);
    if (!two.ok()) {
      return;
    }
    config.ring = deepest_ring(*two, chip_, config.ctas_per_sm, kMaxRing);
    if (config.ring < 2) {
      return;
    }
    const int64_t tiles = ceil_div(extents_.m, config.tile_m) * ceil_div(extents_.n, config.tile_n);
    const int64_t steps = ceil_div(extents_.k, config.tile_k);
    const bool clustered = config.cluster_m * config.cluster_n > 1;
    for (const int64_t parts : part_counts(tiles, steps, chip_.core.count)) {
      config.parts = parts;
      config.persistent = parts == 1;
      if ((parts == 1 || !clustered) && gemm_program(config).ok()) {
        found_.push_back(config);
      }
    }
  }

  std::vector<GemmConfig> take() { return std::move(found_); }

 private:
  GemmExtents extents_;
  const machine::Chip& chip_;
  std::vector<GemmConfig> found_;
};

GemmConfig with_tile(const GemmConfig& base, const Tile& tile) {
  GemmConfig config = base;
  config.tile_m = base.swapped ? tile.columns : tile.rows;
  config.tile_n = base.swapped ? tile.rows : tile.columns;
  config.warps = tile.warps;
  return config;
}

/// Weights on the rows, all of m (rounded up to what the instruction and the store take) on the
/// columns.
void add_swapped(const GemmExtents& extents, const GemmConfig& base, Candidates& found) {
  GemmConfig config = base;
  config.swapped = true;
  const int64_t columns = extents.m <= 8 ? 8 : ceil_div(extents.m, 16) * 16;
  for (const Tile& tile : {Tile{64, columns, 4}, Tile{128, columns, 8}, Tile{256, columns, 8}}) {
    for (const int64_t tile_k : {64, 128, 256}) {
      config = with_tile(config, tile);
      config.tile_k = tile_k;
      // Two CTAs an SM keep more bytes in flight where one of them waits for its last product.
      for (const int64_t ctas : {1, 2}) {
        config.ctas_per_sm = ctas;
        found.add(config);
      }
    }
  }
}

void add_hopper(const GemmExtents& extents, const GemmConfig& base, Candidates& found) {
  if (extents.m <= kSwapBelow) {
    add_swapped(extents, base, found);
  }
  for (const Tile& tile : kWideTiles) {
    // A tile far beyond the extents only multiplies zeros.
    if (tile.rows > std::max<int64_t>(64, 2 * extents.m) || tile.columns > 2 * extents.n) {
      continue;
    }
    GemmConfig config = with_tile(base, tile);
    found.add(config);
    config.cluster_m = ceil_div(extents.m, config.tile_m) >= 2 ? 2 : 1;
    if (config.cluster_m == 2) {
      found.add(config);
    }
    config.cluster_m = 1;
    config.cluster_n = ceil_div(extents.n, config.tile_n) >= 2 ? 2 : 1;
    if (config.cluster_n == 2) {
      found.add(config);
    }
  }
}

void add_cdna(const GemmExtents& extents, const GemmConfig& base, Candidates& found) {
  for (const bool swapped : {false, true}) {
    if (swapped && extents.m > kSwapBelow) {
      continue;
    }
    for (const Tile& tile : kCdnaTiles) {
      for (const int64_t tile_k : {32, 64}) {
        GemmConfig config = base;
        config.swapped = swapped;
        config = with_tile(config, tile);
        config.tile_k = tile_k;
        config.column_warps = tile.warps / 2;
        found.add(config);
      }
    }
  }
}

}  // namespace

std::vector<GemmConfig> gemm_configs(const GemmExtents& extents,
                                     const machine::Chip& chip,
                                     const GemmConfig& base) {
  Candidates found(extents, chip);
  if (base.target == Target::Sm90a) {
    add_hopper(extents, base, found);
  } else {
    add_cdna(extents, base, found);
  }
  return found.take();
}

}  // namespace orrery::kernel
