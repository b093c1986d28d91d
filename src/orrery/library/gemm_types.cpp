// Names of operand types, and the bytes of operands.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/gemm_types.h"

#include <array>

#include "orrery/base/check.h"
#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

struct Quantised {
  std::string_view name;
  Quantisation quantisation;
  DType input;
  DType output;
};

constexpr std::array kQuantised = {
    Quantised{"fp8_block", Quantisation::Block128, DType::F8E4M3, DType::BF16},
    Quantised{"w4a16", Quantisation::Int4Weights, DType::BF16, DType::BF16},
    Quantised{"w8a16", Quantisation::Int8Weights, DType::BF16, DType::BF16},
    Quantised{"int8_sq", Quantisation::Int8Scaled, DType::I8, DType::F16},
    Quantised{"mxfp4", Quantisation::Mx, DType::F4E2M1, DType::BF16},
    Quantised{"nvfp4", Quantisation::Nv, DType::F4E2M1, DType::BF16},
};

DType output_of(DType input) {
  switch (input) {
    case DType::F8E4M3:
    case DType::F8E5M2:
    case DType::F4E2M1:
      return DType::BF16;
    case DType::TF32:
      return DType::F32;
    case DType::I8:
      return DType::I32;
    case DType::F32:
    case DType::F16:
    case DType::BF16:
    case DType::I64:
    case DType::I32:
    case DType::I4:
    case DType::Bool:
      return input;
  }
  ORR_UNREACHABLE();
}

// Bytes of a scale per element of k.
double scale_bytes(Quantisation quantisation, bool weights) {
  switch (quantisation) {
    case Quantisation::None:
    case Quantisation::Int8Weights:
    case Quantisation::Int8Scaled:
      return 0;
    case Quantisation::Block128:
      return 4.0 / 128 / (weights ? 128 : 1);
    case Quantisation::Int4Weights:
      return weights ? 4.0 / 128 : 0;
    case Quantisation::Mx:
      return 1.0 / 32;
    case Quantisation::Nv:
      return 1.0 / 16;
  }
  ORR_UNREACHABLE();
}

}  // namespace

Result<GemmCall> with_types(GemmCall call, std::string_view name) {
  for (const auto& each : kQuantised) {
    if (each.name == name) {
      call.quantisation = each.quantisation;
      call.input = each.input;
      call.output = each.output;
      return call;
    }
  }
  ORR_TRY(call.input, parse_dtype(name));
  call.output = output_of(call.input);
  call.quantisation = Quantisation::None;
  return call;
}

std::string types_name(const GemmCall& call) {
  for (const auto& each : kQuantised) {
    if (each.quantisation == call.quantisation && each.input == call.input) {
      return std::string(each.name);
    }
  }
  return std::string(orrery::name(call.input));
}

Bytes weight_bytes(const GemmCall& call) {
  const double element = call.quantisation == Quantisation::Int4Weights ? 0.5
                         : call.quantisation == Quantisation::Int8Weights
                             ? 1
                             : element_size(call.input).value();
  return Bytes(product(call.batch, call.n, call.k) *
               (element + scale_bytes(call.quantisation, true)));
}

Bytes activation_bytes(const GemmCall& call) {
  return Bytes(product(call.batch, call.m, call.k) *
               (element_size(call.input).value() + scale_bytes(call.quantisation, false)));
}

Bytes result_bytes(const GemmCall& call) {
  return Bytes(product(call.batch, call.m, call.n) * element_size(call.output).value());
}

}  // namespace orrery::library
