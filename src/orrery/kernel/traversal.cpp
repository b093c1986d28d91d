// Traversal: the order of tiles in bands and clusters.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/traversal.h"

#include <algorithm>

namespace orrery::kernel {
namespace {

/// The part of a unit number that the raster order spans: a tile of the first axis and one of the
/// second.
struct Band {
  int64_t first = 0;
  int64_t second = 0;
};

/// Band order over first x second tiles: bands of `group` first tiles, each over all second tiles.
Band band_at(int64_t at, int64_t firsts, int64_t seconds, int64_t group) {
  const int64_t per_band = group * seconds;
  const int64_t start = at / per_band * group;
  const int64_t width = std::min(group, firsts - start);
  const int64_t rest = at % per_band;
  return {start + rest % width, rest / width};
}

}  // namespace

int64_t TileOrder::units() const {
  int64_t product = 1;
  for (const int64_t count : tiles) {
    product *= count;
  }
  return product;
}

std::vector<int64_t> TileOrder::at(int64_t unit) const {
  std::vector<int64_t> counts = tiles;
  int64_t banded = group;
  if (cluster > 1) {
    counts[cluster_at] /= cluster;
    banded = cluster_at == 0 ? std::max<int64_t>(1, group / cluster) : group;
  }
  int64_t rest = unit / cluster;
  std::vector<int64_t> tile(counts.size(), 0);
  size_t next = 0;
  if (banded > 1 && counts.size() > 1) {
    const int64_t plane = counts[0] * counts[1];
    const Band band = band_at(rest % plane, counts[0], counts[1], banded);
    tile[0] = band.first;
    tile[1] = band.second;
    rest /= plane;
    next = 2;
  }
  for (size_t i = next; i < counts.size(); ++i) {
    tile[i] = rest % counts[i];
    rest /= counts[i];
  }
  if (cluster > 1) {
    tile[cluster_at] = tile[cluster_at] * cluster + unit % cluster;
  }
  return tile;
}

}  // namespace orrery::kernel
