// lower_framework: a graph as the library calls that eager PyTorch makes, one kernel or more per
// operator.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"
#include "orrery/plan/plan.h"

namespace orrery::passes {

/// Every operator becomes its call, with the sizes of `context`; views become nothing, unless the
/// framework has to copy (strides.h). Activations are taken to be as warm as they fit into L2,
/// weights and caches cold: a decoder reads far more between two uses of a weight than L2 holds.
/// Errors: a rotary embedding (decompose first), a sliding window that matters.
Result<plan::Plan> lower_framework(const graph::Graph& graph, const Context& context);

}  // namespace orrery::passes
