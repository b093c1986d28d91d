// Kernels over rows x cols on the command line.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "orrery/session/argument_reader.h"
#include "orrery/session/operators.h"

namespace orrery::session {

namespace {

library::Call rows_call(ArgumentReader& reader) {
  library::RowsCall call;
  call.op = reader.op();
  call.rows = reader.size("rows");
  call.cols = reader.size("cols");
  call.strided = reader.flag("strided");
  call.dtype = reader.dtype();
  reader.elements("rows x cols", {call.rows, call.cols});
  const int64_t least = call.op == "topk8" ? 8 : call.op == "strided_copy" ? 2 : 1;
  reader.require(call.cols >= least,
                 fmt::format("cols: got {}, need at least {}", call.cols, least));
  if (call.op == "cat") {
    call.cols *= 2;  // a call has the sizes of the result
  }
  return call;
}

Operator rows(std::string_view name, std::string_view summary) {
  return {name,
          summary,
          {{"rows", "", "rows"},
           {"cols", "", "columns"},
           {"strided", "0", "1: an operand is not dense, or broadcast"},
           kDtypeKey},
          rows_call};
}

std::vector<Operator> pointwise_operators() {
  return {
      rows("fill", "a constant written"),
      rows("copy", "a copy"),
      rows("strided_copy", "x[:, :cols / 2] made dense"),
      rows("cat", "two operands of rows x cols joined along the columns"),
      rows("cast_fp32", "conversion to fp32"),
      rows("quantize_fp8", "scaling, then conversion to fp8"),
      rows("static_quantize_fp8", "scaling and conversion to fp8 in one kernel"),
      rows("neg", "negation"),
      rows("scale", "product with a number"),
      rows("add", "sum of two operands"),
      rows("sub", "difference of two operands"),
      rows("mul", "product of two operands"),
      rows("div", "quotient of two operands"),
      rows("bias_add", "sum with one row"),
      rows("broadcast_mul", "product with one row"),
      rows("exp", "exponential"),
      rows("relu", "max(x, 0)"),
      rows("clamp", "x within two bounds"),
      rows("sigmoid", "1 / (1 + exp(-x))"),
      rows("tanh", "hyperbolic tangent"),
      rows("gelu", "x Phi(x)"),
      rows("silu_mul", "silu of one operand times another"),
      rows("gelu_tanh", "x Phi(x) in its tanh form"),
      rows("silu", "x / (1 + exp(-x))"),
      rows("softplus", "log(1 + exp(x))"),
      rows("where", "x > 0, then x or y"),
      rows("dropout", "training mode, with its mask"),
      rows("gelu_backward", "gradient of gelu"),
      rows("silu_backward", "gradient of silu"),
  };
}

std::vector<Operator> reduction_operators() {
  return {
      rows("sum_rows", "sum of each row"),
      rows("mean_rows", "mean of each row"),
      rows("max_rows", "maximum of each row"),
      rows("var_rows", "unbiased variance of each row"),
      rows("argmax", "position of the maximum of each row"),
      rows("sum_cols", "sum of each column"),
      rows("mean_cols", "mean of each column"),
      rows("sum_all", "sum of all elements"),
      rows("cumsum", "running sum along each row"),
      rows("topk8", "the 8 largest of each row, sorted"),
      rows("sort", "each row sorted, with indices"),
  };
}

std::vector<Operator> moving_operators() {
  return {
      rows("transpose", "a transposed copy"),
      rows("embedding", "rows gathered from a table of 32,000"),
      rows("gather_rows", "rows of a matrix, as many as it has, by random index"),
      rows("index_add", "rows added to a matrix by random index"),
      rows("embedding_backward", "gradients of rows added into a table of 32,000"),
  };
}

std::vector<Operator> norm_operators() {
  return {
      rows("rms_norm", "root mean square normalisation of each row"),
      rows("layer_norm", "layer normalisation of each row"),
      rows("group_norm", "32 groups of columns of each row normalised (one if 32 does not divide)"),
      rows("batch_norm", "columns normalised over rows, training mode"),
      rows("rms_norm_backward", "gradients of rms_norm: input, weight"),
      rows("layer_norm_backward", "gradients of layer_norm: input, weight, bias"),
      rows("softmax", "softmax of each row"),
      rows("log_softmax", "log-softmax of each row"),
      rows("softmax_backward", "gradient of softmax"),
      rows("log_softmax_backward", "gradient of log-softmax"),
      rows("cross_entropy", "log-softmax of each row, mean loss over rows"),
      rows("adamw", "one fused optimizer step of rows x cols parameters"),
  };
}

}  // namespace

std::vector<Operator> rows_operators() {
  std::vector<Operator> all;
  for (const auto& some :
       {norm_operators(), pointwise_operators(), reduction_operators(), moving_operators()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace orrery::session
