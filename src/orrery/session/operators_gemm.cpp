// Products on the command line.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "orrery/library/gemm_types.h"
#include "orrery/session/argument_reader.h"
#include "orrery/session/operators.h"

namespace orrery::session {

namespace {

constexpr std::string_view kTypes =
    "bf16, fp16, fp8, fp8_block, int8, int8_sq, w4a16, w8a16, mxfp4, nvfp4, tf32, fp32";

constexpr std::string_view kQuantise = "none, static, tensor, token, group128, group16";

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
  call.layout = layout_of(reader);
  const std::string types = reader.text("dtype");
  if (const auto typed = library::with_types(call, types); typed.ok()) {
    call = *typed;
  } else {
    reader.require(false, fmt::format("dtype: got '{}', need one of {}", types, kTypes));
  }
  const std::string backend = reader.text("backend");
  call.backend = backend == "default" ? "" : backend;
  const std::string kernel = reader.text("kernel");
  call.kernel = kernel == "choice" ? "" : kernel;
  const std::string quantise = reader.text("quantise");
  if (const auto kind = library::parse_quantise(quantise)) {
    call.quantise = *kind;
  } else {
    reader.require(false, fmt::format("quantise: got '{}', need one of {}", quantise, kQuantise));
  }
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
            {"dtype", "bf16", kTypes},
            {"backend",
             "default",
             "whose kernels: vllm, sglang, trtllm, deepgemm, triton, marlin; default: cuBLAS, "
             "hipBLASLt, of w4a16 PyTorch's tinygemm"},
            {"kernel",
             "choice",
             "by name, instead of the library's choice: nvjet_256x128_64x4_1x2_coopA_TNT, "
             "MT256x128x64"},
            {"quantise", "none", "how bf16 rows of A are quantised before: a kernel of its own"}},
           gemm_call}};
}

}  // namespace orrery::session
