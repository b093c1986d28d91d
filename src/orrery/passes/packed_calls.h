// Calls of operators that a mixed step runs once for prompts and once for decoding sequences.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"
#include "orrery/passes/named_call.h"

namespace orrery::passes {

// A serving engine gives a recurrence, or attention over latents, two launches in a mixed step: one
// kernel steps the sequences that decode, another works through the chunks of prompts.
//
//     4 x 1@4000, 1 x 512@1024     .decode  4 sequences of 1 token, 4001 keys
//                                  .chunk   1 sequence of 512 tokens, 1536 keys

/// Sequences of one call, all alike.
struct SequenceGroup {
  std::string suffix;
  int64_t batch = 1;
  int64_t tokens = 1;
  int64_t keys = 1;

  bool operator==(const SequenceGroup&) const = default;
};

/// Decoding sequences as one group of their mean length, chunks in groups of equals; of more than
/// `kMostChunks` kinds of chunks one group of their means.
constexpr size_t kMostChunks = 8;
std::vector<SequenceGroup> groups_of(const std::vector<Request>& requests);

/// The calls of a recurrence, a convolution, latent attention or its index. Chunks attend to keys
/// and values that are made of the latents, as engines do (their up projection is the graph's for
/// new tokens and a call of its own for cached ones), with values as wide as keys. Error
/// Unsupported: latent attention whose projections are not beside it.
Result<std::vector<NamedCall>> packed_calls(const graph::Graph& graph,
                                            const graph::Op& op,
                                            const Context& context);

}  // namespace orrery::passes
