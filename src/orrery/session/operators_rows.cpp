// Kernels over rows x cols on the command line.
// SPDX-License-Identifier: Apache-2.0
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

}  // namespace

std::vector<Operator> rows_operators() {
  return {
      rows("rms_norm", "root mean square normalisation of each row"),
      rows("layer_norm", "layer normalisation of each row"),
      rows("softmax", "softmax of each row"),
      rows("embedding", "rows gathered from a table of 32,000"),
      rows("gather_rows", "rows of a matrix, as many as it has, by random index"),
      rows("index_add", "rows added to a matrix by random index"),
      rows("embedding_backward", "gradients of rows added into a table of 32,000"),
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
      rows("transpose", "a transposed copy"),
      rows("add", "sum of two operands"),
      rows("mul", "product of two operands"),
      rows("neg", "negation"),
      rows("exp", "exponential"),
      rows("silu", "x / (1 + exp(-x))"),
      rows("gelu", "x Phi(x)"),
      rows("copy", "a copy"),
      rows("cat", "two operands joined; rows x cols of the result"),
      rows("cast_fp32", "conversion to fp32"),
  };
}

}  // namespace orrery::session
