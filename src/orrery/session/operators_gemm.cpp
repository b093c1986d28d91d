// Products on the command line.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "orrery/session/argument_reader.h"
#include "orrery/session/operators.h"

namespace orrery::session {

namespace {

/// Products are written in the input's type, but fp8 ones as bf16 and tf32 ones as fp32.
DType output_of(DType input) {
  const bool eight_bit = input == DType::F8E4M3 || input == DType::F8E5M2;
  return eight_bit ? DType::BF16 : input == DType::TF32 ? DType::F32 : input;
}

library::GemmLayout layout_of(ArgumentReader& reader) {
  using enum library::GemmLayout;
  const std::string text = reader.text("layout");
  for (const auto layout : {NT, NN, TN, TT}) {
    if (name(layout) == text) {
      return layout;
    }
  }
  reader.require(false, fmt::format("layout: got '{}', need nt, nn, tn or tt", text));
  return NT;
}

library::Call gemm_call(ArgumentReader& reader) {
  library::GemmCall call;
  call.batch = reader.size("batch");
  call.m = reader.size("m");
  call.n = reader.size("n");
  call.k = reader.size("k");
  call.input = reader.dtype();
  call.output = output_of(call.input);
  call.layout = layout_of(reader);
  reader.elements("A", {call.batch, call.m, call.k});
  reader.elements("B", {call.batch, call.n, call.k});
  reader.elements("C", {call.batch, call.m, call.n});
  return call;
}

}  // namespace

std::vector<Operator> gemm_operators() {
  return {{"gemm",
           "C[m, n] = A[m, k] B[n, k]^T, a linear layer",
           {{"m", "", "rows of A: tokens"},
            {"n", "", "rows of B: output features"},
            {"k", "", "columns of both: input features"},
            {"batch", "1", "independent products"},
            {"layout", "nt", "how A and B lie in memory: nt nn tn tt; n row-major, t transposed"},
            kDtypeKey},
           gemm_call}};
}

}  // namespace orrery::session
