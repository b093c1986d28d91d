// lower_fused: a graph as the kernels that a compiler leaves of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"
#include "orrery/passes/rewrites.h"
#include "orrery/plan/plan.h"

namespace orrery::passes {

/// As TorchInductor runs it: products and attention by the framework's libraries, everything else
/// in generated kernels (fuse.h).
Result<plan::Plan> lower_inductor(const graph::Graph& graph,
                                  const Context& context,
                                  Rewrites& known);

/// What fusion without limits would leave: what is generated runs inside of the products and
/// attentions beside it, and costs what it moves beyond these.
Result<plan::Plan> lower_fully_fused(const graph::Graph& graph,
                                     const Context& context,
                                     Rewrites& known);

}  // namespace orrery::passes
