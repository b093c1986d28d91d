// Calls of operators that mix tokens by a state or a latent, or choose keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/graph/graph.h"
#include "orrery/library/call.h"
#include "orrery/passes/context.h"

namespace orrery::passes {

/// The call of a recurrence, a convolution, latent attention or its index.
library::Call mixed_call(const graph::Graph& graph, const graph::Op& op, const Context& context);

}  // namespace orrery::passes
