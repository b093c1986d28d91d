// What attention kernels have in common: tiles of queries, the blocks of keys that a mask leaves
// them, and the bytes of the operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/kernel/profile.h"
#include "orrery/library/call.h"
#include "orrery/machine/machine.h"

namespace orrery::library {

// A kernel walks, for each tile of `rows` queries, the blocks of `keys` keys that the mask leaves:
//
//     causal, 500 queries, tiles of 128, blocks of 64:   2, 4, 6, 8 blocks
//     window of 128 before 4096 queries of a cache:       each tile the blocks from i - 128 to i
//
// Query i of n sees the keys up to i + (keys - n): the last query sees all (a chunk after a cache).

/// Blocks of one tile.
struct TileBlocks {
  double blocks = 0;
  double masked = 0;  // of them, blocks that go through the masking code
};

/// The tiles of one head in issue order, neighbours merged: `tiles` of them with so many blocks on
/// average.
struct TileGroup {
  double tiles = 0;
  TileBlocks mean;
};

struct Tiling {
  int64_t rows = 0;       // queries of a tile
  int64_t keys = 0;       // of a block
  int64_t queries = 0;    // of a sequence
  int64_t key_count = 0;  // of a sequence
  bool causal = false;
  int64_t window = 0;        // keys before its own that a query sees; 0: no window
  int64_t masked_steps = 0;  // blocks at the end of a tile that the kernel masks
};

TileBlocks blocks_of(const Tiling& tiling, int64_t tile);

/// A kind of unit of such tiles: before its main loop, the loop (no phase if no key is seen), the
/// rest.
kernel::UnitKind unit_of(double count,
                         double blocks,
                         const kernel::ProfilePhase& wait,
                         const kernel::ProfilePhase& loop,
                         kernel::ProfilePhase rest);

/// All tiles of a head in at most `most` groups.
std::vector<TileGroup> tile_groups(const Tiling& tiling, int64_t most);

constexpr double kAttentionElement = 2;  // bytes: bf16 and f16 alone are served

/// Bytes of a number of a key or a value.
double key_element(const AttentionCall& call);

double query_bytes(const AttentionCall& call);
double output_bytes(const AttentionCall& call);
double cache_bytes(const AttentionCall& call);  // keys and values that some query sees

/// Q, K, V once, O once. Of the keys, those of the new queries were just computed; the rest is a
/// cache.
kernel::Traffic attention_traffic(const AttentionCall& call);

/// The same of packed sequences with keys of their own. Heads go slowest, so the query heads of a
/// group meet their keys again after those of all other sequences; what L2 no longer holds then
/// comes from DRAM again.
kernel::Traffic packed_traffic(const AttentionCall& call, const machine::Chip& chip);

/// What every backend needs: a 16-bit type with a matrix rate, whole groups of query heads.
Result<void> check_attention(const AttentionCall& call, const machine::Chip& chip);

/// The value's head size, which is the key's unless it is stated.
inline int64_t value_dim(const AttentionCall& call) {
  return call.head_dim_v > 0 ? call.head_dim_v : call.head_dim;
}

}  // namespace orrery::library
