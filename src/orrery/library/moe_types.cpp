// Names and sizes of the types of a layer of experts.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/moe_types.h"

#include "orrery/library/gemm_types.h"

namespace orrery::library {
namespace {

constexpr std::string_view kFloatWeights = "w4a16_mxfp4";
constexpr std::string_view kFloatWeights8 = "w4a8_mxfp4_mxfp8";
constexpr double kMxWeight = 0.5 + 1.0 / 32;

bool mx_weights(const MoeCall& call) {
  return call.quantisation == Quantisation::Mx && call.dtype != DType::F4E2M1;
}

GemmCall product_of(const MoeCall& call) {
  return {.m = 1,
          .n = 1,
          .k = 1,
          .input = call.dtype,
          .output = DType::BF16,
          .quantisation = call.quantisation};
}

}  // namespace

Result<MoeCall> with_types(MoeCall call, std::string_view name) {
  if (name == kFloatWeights || name == kFloatWeights8) {
    call.dtype = name == kFloatWeights ? DType::BF16 : DType::F8E4M3;
    call.quantisation = Quantisation::Mx;
    return call;
  }
  ORR_TRY(const GemmCall product, with_types(GemmCall{}, name));
  call.dtype = product.input;
  call.quantisation = product.quantisation;
  return call;
}

std::string types_name(const MoeCall& call) {
  if (mx_weights(call)) {
    return std::string(call.dtype == DType::F8E4M3 ? kFloatWeights8 : kFloatWeights);
  }
  const bool plain = call.quantisation == Quantisation::None;
  return plain && call.dtype == DType::F8E4M3 ? "fp8" : types_name(product_of(call));
}

double weight_bytes(const MoeCall& call) {
  return mx_weights(call) ? kMxWeight : weight_bytes(product_of(call)).value();
}

double activation_bytes(const MoeCall& call) {
  if (call.quantisation == Quantisation::Mx && call.dtype == DType::BF16) {
    return element_size(DType::BF16).value();
  }
  return activation_bytes(product_of(call)).value();
}

}  // namespace orrery::library
