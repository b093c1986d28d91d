// Types of quantised products, as the kernels of a chip multiply them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "orrery/graph/op.h"
#include "orrery/library/call.h"
#include "orrery/passes/context.h"

namespace orrery::passes {

struct ProductTypes {
  DType input = DType::BF16;  // of a call: what the matrix unit multiplies
  library::Quantisation quantisation = library::Quantisation::None;
  std::string backend = {};  // whose kernels, where not the framework's own
  bool widened = false;      // the chip does not multiply such activations: only weights stay small
};

/// What a product of activations `x` and weights of type `weight` becomes on a chip of the context.
/// Where its matrix unit does not take the type that activations
/// are to be quantised to, engines leave them as they are and widen the weights in registers
/// (Marlin):
///
///     fp8 weights and activations, H200      f8e4m3 x f8e4m3
///     the same on an A100                    bf16, weights of 8 bits
///     nvfp4 weights and activations, H200    bf16, weights of 4 bits
ProductTypes product_types(const graph::Attributes& attributes,
                           DType weight,
                           DType x,
                           const Context& context);

}  // namespace orrery::passes
