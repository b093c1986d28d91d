// From a layout of scales to a call's types.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/product_types.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace orrery::passes {

namespace {

using graph::Scheme;
using library::Quantisation;

bool takes(const std::vector<DType>& types, DType type) {
  return types.empty() || std::find(types.begin(), types.end(), type) != types.end();
}

ProductTypes weights_only(DType weight, DType x, const Context& context) {
  const bool four_bits = weight == DType::I4 || weight == DType::F4E2M1;
  // On sm_80 TensorRT-LLM's kernels are known from measurements; AMD's chips take their default.
  const std::string_view chip = context.architecture;
  const std::string_view backend = chip.starts_with("sm_80") ? "trtllm"
                                   : chip.starts_with("sm_") ? "marlin"
                                                             : "";
  return {.input = x,
          .quantisation = four_bits ? Quantisation::Int4Weights : Quantisation::Int8Weights,
          .backend = std::string(backend)};
}

}  // namespace

ProductTypes product_types(const graph::Attributes& attributes,
                           DType weight,
                           DType x,
                           const Context& context) {
  if (attributes.scheme == Scheme::None) {
    return {.input = x};
  }
  const DType activations = attributes.activations;
  if (activations == x) {
    return weights_only(weight, x, context);
  }
  const bool scaled_alike = attributes.scheme == Scheme::Mx || attributes.scheme == Scheme::Nv;
  if (!takes(context.multiplies, activations) ||
      (scaled_alike && !takes(context.multiplies, weight))) {
    ProductTypes types = weights_only(weight, x, context);
    types.widened = true;
    return types;
  }
  switch (attributes.scheme) {
    case Scheme::Block:
      return {.input = activations, .quantisation = Quantisation::Block128};
    case Scheme::Mx:
      return {.input = weight, .quantisation = Quantisation::Mx};
    case Scheme::Nv:
      return {.input = weight, .quantisation = Quantisation::Nv};
    case Scheme::None:
    case Scheme::Tensor:
    case Scheme::Channel:
    case Scheme::Group:
      return {.input = activations};
  }
  ORR_UNREACHABLE();
}

}  // namespace orrery::passes
