// Products on the command line.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/argument_reader.h"
#include "orrery/session/operators.h"

namespace orrery::session {

namespace {

/// Products are written in the input's type, but fp8 ones as bf16 and tf32 ones as fp32.
DType output_of(DType input) {
  const bool eight_bit = input == DType::F8E4M3 || input == DType::F8E5M2;
  return eight_bit ? DType::BF16 : input == DType::TF32 ? DType::F32 : input;
}

library::Call gemm_call(ArgumentReader& reader) {
  library::GemmCall call;
  call.batch = reader.size("batch");
  call.m = reader.size("m");
  call.n = reader.size("n");
  call.k = reader.size("k");
  call.input = reader.dtype();
  call.output = output_of(call.input);
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
            kDtypeKey},
           gemm_call}};
}

}  // namespace orrery::session
