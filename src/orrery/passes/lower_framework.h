// lower_framework: a graph as the library calls that eager PyTorch makes, one kernel or more per
// operator.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"
#include "orrery/passes/expand.h"
#include "orrery/passes/fuse.h"
#include "orrery/plan/plan.h"

namespace orrery::passes {

/// Every operator becomes its call, with the sizes of `context`; views become nothing, unless the
/// framework has to copy (strides.h). Activations are taken to be as warm as they fit into L2,
/// weights and caches cold: a decoder reads far more between two uses of a weight than L2 holds.
/// A single query with a sliding window reads as many keys as the window has; experts get the rows
/// of expert_rows.h; what a call has no term for is noted in the plan. Errors: a rotary embedding
/// (decompose first).
Result<plan::Plan> lower_framework(const graph::Graph& graph, const Context& context);

/// The same where a compiler has made the operators of each group one kernel: only what is in no
/// group is a call of the framework's own.
Result<plan::Plan> lower_grouped(const Expanded& expanded,
                                 const Grouping& grouping,
                                 const Context& context);

}  // namespace orrery::passes
