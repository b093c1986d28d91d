// The family of decode attention: one query position against a long cache, grouped query heads,
// split over the cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"
#include "orrery/kernel/program.h"
#include "orrery/machine/machine.h"

namespace orrery::kernel {

// O[b, h, g, :] = softmax(scale * Q[b, h, g, :] K[b, h, :, :]^T) V[b, h, :, :] for each of g query
// heads that share the key and value head h. The group is the row tile of the matrix instruction: 8
// query heads are padded to 64 rows (16 on gfx942), which costs tensor work and no memory traffic,
// and memory bounds the kernel.
//
//     once     q <- Q;  o = 0, top = -1e30, sum = 0
//     loop s   k <- K;  s = q k^T          scores of a tile of the cache
//              next = max(top, scale * max s)
//              s = exp2(scale * s - next),  p = s
//              o = o * exp2(top - next) + p v;  sum likewise
//     once     O <- o / sum
//
// in base 2: scale = log2(e) / sqrt(head_dim), folded into one multiply-add per score. Scores
// beyond the cache's end are -1e30. On **sm_90a** a producer warp loads (ring of K and V tiles) and
// one warpgroup computes; P stays in registers, because the accumulator of S is laid out as the
// first operand of the next product. On **gfx942** the products are S^T = K Q^T and O^T = V^T P^T,
// for the same reason: there the accumulator is laid out as the second one.
//
// With `parts` > 1 each part of the cache is a unit of its own and leaves its unnormalised o, top
// and sum in binary32 (PO [part, b, h, g, d], PT and PS [part, b, h, g]); `decode_combine_program`
// merges them.
//
// Extents: b, h (key/value heads), g (query heads per key/value head), s. head_dim is part of the
// program.

struct DecodeConfig {
  Target target = Target::Sm90a;
  DType dtype = DType::BF16;
  int64_t head_dim = 128;
  int64_t group = 64;   // rows of the tile: >= the extent g; 64 on sm_90a, 16 on gfx942
  int64_t tile_s = 64;  // keys of a tile
  int64_t ring = 3;     // tiles of K, and of V
  int64_t parts = 1;
  int64_t ctas_per_sm = 2;
  double scale = 0;  // of the scores before softmax; 0: 1 / sqrt(head_dim)

  bool operator==(const DecodeConfig&) const = default;
};

std::string kernel_name(const DecodeConfig& config);

/// Errors: InvalidInput with every reason that holds.
Result<Program> decode_attention_program(const DecodeConfig& config);

/// O from the partial results of a config with parts > 1.
Result<Program> decode_combine_program(const DecodeConfig& config);

/// Configurations worth timing, in a fixed order.
struct DecodeExtents {
  int64_t b = 0;
  int64_t h = 0;
  int64_t g = 0;
  int64_t s = 0;
};

std::vector<DecodeConfig> decode_configs(const DecodeExtents& extents,
                                         const machine::Chip& chip,
                                         const DecodeConfig& base);

}  // namespace orrery::kernel
