// The type of an operator's result, from its inputs and attributes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/graph/op.h"
#include "orrery/graph/shape.h"

namespace orrery::graph {

/// What `kind` gives for inputs of these types, by the shapes stated in op_list.h. Errors
/// (InvalidInput) say which input or attribute does not fit; `dims` are the names of extents, for
/// the message.
Result<TensorType> infer(OpKind kind,
                         std::span<const TensorType> inputs,
                         const Attributes& attributes,
                         std::span<const std::string> dims);

/// "bf16 [batch, 64]".
std::string to_text(const TensorType& type, std::span<const std::string> dims);
/// "[batch, 64]".
std::string to_text(const Shape& shape, std::span<const std::string> dims);

}  // namespace orrery::graph
