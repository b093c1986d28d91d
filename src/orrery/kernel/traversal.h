// Traversal: which tiles of its operands each unit of a launch touches, in issue order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orrery/base/quantity.h"

namespace orrery::kernel {

// What a cache holds depends on which unit reads which tile after which. A GEMM of 3 x 4 tiles, two
// rows of tiles to a band, reads A by (m, step) and B by (n, step):
//
//     unit        0      1      2      3      4    ...
//     tile (m,n)  (0,0)  (1,0)  (0,1)  (1,1)  (0,2)
//     A           A0     A1     A0     A1     A0        each trip the next step of k
//     B           B0     B0     B1     B1     B2

/// The tiles of a grid and the order in which units walk them: unit u is tile at(u).
struct TileOrder {
  std::vector<int64_t> tiles;  // of each grid axis, the one that runs fastest first
  int64_t group = 1;           // the first axis is swept in bands of so many tiles, each band over
                               // all tiles of the second axis
  int64_t cluster = 1;         // so many consecutive units differ in one axis alone,
  size_t cluster_at = 0;       // this one, whose tiles are a multiple of it

  int64_t units() const;
  /// The tile index along every axis, 0 <= unit < units(). Example: 5 x 2 tiles, group 2:
  ///
  ///     unit   0      1      2      3      4      5      6      7      8      9
  ///     tile   (0,0)  (1,0)  (0,1)  (1,1)  (2,0)  (3,0)  (2,1)  (3,1)  (4,0)  (4,1)
  std::vector<int64_t> at(int64_t unit) const;

  bool operator==(const TileOrder&) const = default;
};

/// An operand as caches see it.
struct TileOperand {
  std::string name;
  Bytes tile;                // of one tile, once, whoever shares it
  std::vector<size_t> axes;  // another tile along these axes of the order
  bool steps = false;        // and another one each trip of the first phase that loops
  bool recent = false;       // the kernel before has just written it (an activation)
  bool operator==(const TileOperand&) const = default;
};

/// What the units of a launch read, in order. Empty order: not known; then only totals are
/// (Traffic).
struct Traversal {
  TileOrder order;
  std::vector<TileOperand> reads;
  std::optional<size_t> parts;  // along this axis the trips of a walk are divided, not its tiles
                                // (split-K): part i begins where part i - 1 ends
  bool operator==(const Traversal&) const = default;
};

}  // namespace orrery::kernel
