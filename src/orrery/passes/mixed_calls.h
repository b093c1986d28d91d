// Calls of operators that mix tokens by a state or a latent, or choose keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "orrery/graph/graph.h"
#include "orrery/library/call.h"

namespace orrery::passes {

/// The call of a recurrence, a convolution, latent attention or its index.
/// `architecture` is the chip's: a latent in a small type is read by serving engines' kernels.
library::Call mixed_call(const graph::Graph& graph,
                         const graph::Sizes& sizes,
                         const graph::Op& op,
                         std::string_view architecture);

}  // namespace orrery::passes
