// Result types of operators that mix tokens or choose experts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "orrery/graph/op.h"
#include "orrery/graph/shape.h"

namespace orrery::graph {

/// The result of a recurrence, a convolution, latent attention, its index, or experts; nothing if
/// the inputs do not fit. Inputs are as many as op_list.h wants.
std::optional<TensorType> infer_mixed(OpKind kind,
                                      std::span<const TensorType> inputs,
                                      const Attributes& attributes);

/// What they need, for the error.
std::string_view need_of_mixed(OpKind kind);

}  // namespace orrery::graph
