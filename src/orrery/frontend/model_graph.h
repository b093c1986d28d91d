// The operator graph of one step of a model.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "orrery/base/result.h"
#include "orrery/frontend/model.h"
#include "orrery/graph/graph.h"

namespace orrery::frontend {

/// prefill: all tokens of a prompt at once, logits of the last one. decode: one new token per
/// sequence, attending to `context` tokens (itself included) in a static cache. mixed: the tokens
/// of several requests packed into one sequence (passes/mixed_step.h). train: arrives later.
enum class Phase { Prefill, Decode, Mixed, Train };
std::string_view name(Phase phase);
Result<Phase> parse_phase(std::string_view text);

/// One step as plain PyTorch runs it: fused qkv and gate-up projections, rotary embedding on
/// transposed heads, grouped-query attention; latent attention expanded in a prefill and absorbed
/// in a decode or mixed step, where it is sparse in all. Named extents: batch and seq (prefill),
/// batch and context (decode); of an encoder-decoder the decoder's own tokens and the encoder's are
/// as many. Sizes that do not fit together (heads not a multiple of kv_heads, an odd head_dim ...)
/// are errors; so is the decode step of an encoder.
Result<graph::Graph> model_graph(const Model& model, Phase phase);

}  // namespace orrery::frontend
