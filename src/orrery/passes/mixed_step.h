// mixed_step: the graph of a prompt as that of a step in which sequences of many lengths are
// packed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"

namespace orrery::passes {

/// How the names of its caches end, which hold all sequences; those of states hold one.
constexpr std::string_view kPackedCache = ".cache";

/// Where the context has requests, keys and values are written to the caches of all sequences and
/// read from there, and logits are those of each sequence's last token; elsewhere nothing changes.
/// The graph's tokens are those of all requests, one sequence of them (batch 1).
Result<graph::Graph> mixed_step(const graph::Graph& graph, const Context& context);

/// What mixed_step reads of `context`; nothing where it changes nothing.
std::optional<std::string> mixed_step_reads(const graph::Graph& graph, const Context& context);

}  // namespace orrery::passes
