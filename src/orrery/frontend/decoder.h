// Decoders: the sizes of a pre-norm transformer decoder, and its operator graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"
#include "orrery/graph/graph.h"

namespace orrery::frontend {

/// What distinguishes one llama-like decoder from another. Plain data, from a config.json or a list
/// of decoders.
struct Decoder {
  std::string name;
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t vocabulary = 0;
  int64_t most_positions = 0;   // trained context; 0: not stated
  int64_t window = 0;           // sliding window of every layer; 0: full attention
  bool tied_embedding = false;  // the head reuses the embedding's table
  bool qkv_bias = false;
  bool output_bias = false;  // of the attention's output projection
  bool mlp_bias = false;
  bool qk_norm = false;  // RMSNorm over head_dim of q and k, before the rotary embedding
  double epsilon = 1e-5;
  DType dtype = DType::BF16;

  bool operator==(const Decoder&) const = default;
};

/// prefill: all tokens of a prompt at once, logits of the last one. decode: one new token per
/// sequence, attending to `context` tokens (itself included) in a static cache. train: arrives
/// later.
enum class Phase { Prefill, Decode, Train };
std::string_view name(Phase phase);
Result<Phase> parse_phase(std::string_view text);

/// The operator graph of one step, written as plain PyTorch runs it: fused qkv and gate-up
/// projections, rotary embedding on transposed heads, grouped-query attention. Named extents: batch
/// and seq (prefill), batch and context (decode). Sizes that do not fit together (heads not a
/// multiple of kv_heads, an odd head_dim ...) are errors.
Result<graph::Graph> decoder_graph(const Decoder& decoder, Phase phase);

}  // namespace orrery::frontend
