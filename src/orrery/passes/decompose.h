// decompose: operators that the framework has no kernel for become those it runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"

namespace orrery::passes {

/// Writes rotary embeddings as pointwise operators, in the order in which eager PyTorch runs `x *
/// cos + cat((-x2, x1), -1) * sin`: mul, neg, cat, mul, add, and a cat with what is not turned.
/// relu2 becomes relu and mul, quick_gelu scale, sigmoid and mul. The new values are called after
/// the result: q_rotary.neg ... A compiler takes a rotary embedding as one.
Result<graph::Graph> decompose(const graph::Graph& graph, const Context& context);

/// Empty; nothing for a compiler, and where there is none of these operators.
std::optional<std::string> decompose_reads(const graph::Graph& graph, const Context& context);

}  // namespace orrery::passes
