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

namespace orrery::passes {

/// The framework's call for an attention operator of q [batch, heads, seq, dim], k and v. Error:
/// Unsupported, for what has no packed kernel in a mixed step.
Result<library::AttentionCall> attention_call(const graph::Graph& graph,
                                              const graph::Op& op,
                                              const Context& context);

/// What the operator does and the call does not say: its cache's type, caps, biases, sinks.
std::vector<std::string> attention_notes(const graph::Graph& graph, const graph::Op& op);

/// That `op` has `what`, for which there is no kernel over packed sequences.
Error not_packed(const graph::Graph& graph, const graph::Op& op, std::string_view what);

}  // namespace orrery::passes
