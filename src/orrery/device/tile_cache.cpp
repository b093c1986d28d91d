// The tile cache: a linked list through an array.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/device/tile_cache.h"

#include <algorithm>

namespace orrery::device {

TileCache::TileCache(Bytes capacity, int64_t tiles)
    : capacity_(capacity.value()), tiles_(static_cast<size_t>(tiles)) {}

TileCache::Found TileCache::touch(int64_t number, double bytes) {
  const auto index = static_cast<int32_t>(number);
  Tile& tile = tiles_[static_cast<size_t>(number)];
  if (tile.held) {
    if (first_ != index) {
      unlink(index);
      link_first(index);
    }
    return Found::Held;
  }
  const Found found = tile.seen ? Found::Evicted : Found::Never;
  tile.held = true;
  tile.seen = true;
  tile.bytes = static_cast<float>(bytes);
  used_ += tile.bytes;
  link_first(index);
  make_room();
  return found;
}

void TileCache::pass(double bytes) {
  // A byte that is written once takes a place as one that is read does, and is the least recent of
  // its capacity later: on average it holds half a capacity's turn. It is let through at once here,
  // and the room it takes is that of the least recent tiles.
  used_ += bytes;
  make_room();
  used_ = std::max(0.0, used_ - bytes);
}

void TileCache::unlink(int32_t index) {
  Tile& tile = tiles_[static_cast<size_t>(index)];
  (tile.before >= 0 ? tiles_[static_cast<size_t>(tile.before)].after : first_) = tile.after;
  (tile.after >= 0 ? tiles_[static_cast<size_t>(tile.after)].before : last_) = tile.before;
}

void TileCache::link_first(int32_t index) {
  Tile& tile = tiles_[static_cast<size_t>(index)];
  tile.before = -1;
  tile.after = first_;
  if (first_ >= 0) {
    tiles_[static_cast<size_t>(first_)].before = index;
  }
  first_ = index;
  if (last_ < 0) {
    last_ = index;
  }
}

void TileCache::make_room() {
  while (used_ > capacity_ && last_ >= 0 && last_ != first_) {
    const int32_t leaves = last_;
    unlink(leaves);
    Tile& tile = tiles_[static_cast<size_t>(leaves)];
    tile.held = false;
    used_ -= tile.bytes;
  }
}

}  // namespace orrery::device
