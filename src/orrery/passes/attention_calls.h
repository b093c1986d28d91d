// Calls of attention: sizes, windows, packed sequences, and what their times leave out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/library/call.h"
#include "orrery/passes/context.h"
#include "orrery/passes/named_call.h"

namespace orrery::passes {

/// The calls for an attention operator of q [batch, heads, seq, dim], k and v: one, or of a mixed
/// step one a group of equal sequences, where an engine runs it or heads are larger than kernels
/// for packed sequences take.
std::vector<NamedCall> attention_calls(const graph::Graph& graph,
                                       const graph::Op& op,
                                       const Context& context);

/// What the operator does and the call does not say: caps, biases, sinks, a small cache of packed
/// sequences.
std::vector<std::string> attention_notes(const graph::Graph& graph,
                                         const graph::Op& op,
                                         const Context& context);

/// That `op` has `what`, for which there is no kernel over packed sequences.
Error not_packed(const graph::Graph& graph, const graph::Op& op, std::string_view what);

}  // namespace orrery::passes
