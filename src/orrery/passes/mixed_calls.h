// Calls of operators that mix tokens by a state, choose keys or experts; types of products.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/library/call.h"

namespace orrery::passes {

/// The library's name for a layout of scales.
library::Quantisation quantisation_of(graph::Scheme scheme, DType weight);

/// What a quantised product multiplies: the type of its activations, or of its weights where the
/// library knows a kernel by them.
DType product_type(const graph::Attributes& attributes, DType weight);

/// The call of a recurrence, a convolution, latent attention, its index or a layer of experts,
/// whose rows are those of a uniform routing (expert_rows.h). Quantised experts run the kernels
/// that serving engines have for chips of `architecture`.
Result<library::Call> mixed_call(const graph::Graph& graph,
                                 const graph::Sizes& sizes,
                                 const graph::Op& op,
                                 std::string_view architecture);

}  // namespace orrery::passes
