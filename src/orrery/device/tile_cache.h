// The tile cache: which tiles of a launch's operands L2 holds, the least recently used leaving
// first.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/base/quantity.h"

namespace orrery::device {

/// Tiles are numbered from 0; each has a size. What is written passes through as well, and pushes
/// tiles out, but is not looked up.
class TileCache {
 public:
  TileCache(Bytes capacity, int64_t tiles);

  /// What a read of a tile finds.
  enum class Found {
    Never,    // it was not read before
    Evicted,  // it was, and has left since
    Held,
  };

  /// Reads a tile, which then is the last to leave.
  Found touch(int64_t tile, double bytes);

  /// Bytes that pass through without being read again.
  void pass(double bytes);

  /// When the tile's bytes are there, for those who read it while it is on its way.
  double ready(int64_t tile) const { return tiles_[static_cast<size_t>(tile)].ready; }

  void set_ready(int64_t tile, double time) { tiles_[static_cast<size_t>(tile)].ready = time; }

 private:
  struct Tile {
    int32_t before = -1;  // towards the most recent
    int32_t after = -1;   // towards the least recent
    float bytes = 0;
    bool held = false;
    bool seen = false;
    double ready = 0;
  };

  void unlink(int32_t tile);
  void link_first(int32_t tile);
  void make_room();

  double capacity_ = 0;
  double used_ = 0;
  int32_t first_ = -1;
  int32_t last_ = -1;
  std::vector<Tile> tiles_;
};

}  // namespace orrery::device
