// Families of models: what each class of transformers fixes, its defaults, its names of keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/frontend/json.h"

namespace orrery::frontend {

// A row of the table is JSON, so that a family is data and the reader is one for all:
//
//     names      the keys of files of this family, where they differ from the usual ones
//     defaults   what a key that is left out means (the defaults of the class)
//     fixed      what the class does without a key: facts, listed here with what they are if left
//     out
//       norm rms | layer | layer_no_bias | layer_no_weight
//       order pre | post | both | after | from_normed      where norms stand (NormOrder)
//       parallel false, one_norm true                      attention beside the feed-forward
//       gated true                                         feed-forward with a gate
//       qkv_bias, output_bias, mlp_bias, router_bias, expert_bias, head_bias    false
//       qk_norm none | head | head_layer | per_head | width | no_weight
//       value_norm, sinks, output_gate, shared_gate, alibi false
//       rotary true, partial 1                             the share of head_dim that is turned
//       window none | all | flag | alternate | period | first_full | list
//                                                          which layers have sliding_window
//       nope none | interval | windowed                    which layers have no rotary embedding
//       latent, lightning, recurrence                      mixers other than attention
//       mixed_recurrence mamba1 | short                    recurrences among attention layers
//       beside mamba2                                      a recurrence beside attention
//       encoder false, causal false                        attends both ways; does not
//       encoder_decoder text | sound | both                T5's, Whisper's, BART's
//       positions 0                                        rows of learned positions beyond the key
//       fixed_positions false                              sines instead of learned positions
//       embedding_scale                                    sqrt: of hidden_size
//       scaled_embedding false                             so, where scale_embedding is true
//       mlp_ratio 0                                        width of the feed-forward where no key
//       says
//     A fact that is the name of a key is what that key says.
struct Family {
  std::string_view types;          // model_type values, separated by spaces
  std::string_view architectures;  // for files without model_type; may be empty
  std::string_view json;
};

/// The row of a model_type, or of an architecture; none if there is no such row.
const Family* find_family(std::string_view model_type, std::string_view architecture);

/// Every model_type, sorted.
std::vector<std::string> family_names();

}  // namespace orrery::frontend
