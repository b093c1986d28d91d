// Rows of membound.csv: kernels over rows x cols in a measuring loop.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>

#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

std::string rows_family(const Fields& row) {
  return std::string(row.text("op"));
}

Result<plan::Estimate> predict_rows_row(const Fields& row, const Setup& setup) {
  library::RowsCall call;
  call.op = row.text("op");
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  ORR_TRY(call.rows, row.size("rows"));
  ORR_TRY(call.cols, row.size("cols"));
  // The loop counts three tensors, whatever the operator touches.
  const Bytes operands = 3 * number(call.rows) * number(call.cols) * element_size(call.dtype);
  constexpr std::array kInto = {"copy", "add", "mul", "gelu", "silu", "exp", "fill"};
  const bool fresh = std::find(kInto.begin(), kInto.end(), call.op) == kInto.end();
  return predict(call, setup, {input_sets(operands, 48), fresh});
}

}  // namespace orrery::validate
