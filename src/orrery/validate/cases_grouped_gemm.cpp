// Rows of grouped_gemm.csv: one product per expert in a measuring loop.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

std::string grouped_gemm_family(const Fields& row) {
  return "grouped_gemm " + std::string(row.text("dtype"));
}

Result<plan::Estimate> predict_grouped_gemm_row(const Fields& row, const Setup& setup) {
  library::GroupedGemmCall call;
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  ORR_TRY(call.n, row.size("n"));
  ORR_TRY(call.k, row.size("k"));
  double rows = 0;
  double active = 0;
  ORR_TRY(call.rows, row.integers("rows_per_expert", 0, int64_t{1} << 32));
  for (const int64_t each : call.rows) {
    rows += number(each);
    active += each > 0 ? 1 : 0;
  }
  const double elements =
      active * number(call.n) * number(call.k) + rows * (number(call.k) + number(call.n));
  const Bytes operands = elements * element_size(call.dtype);
  return predict(call, setup, {input_sets(operands, 16), true});
}

// Equal groups, one set of buffers (Primus-Turbo).
Result<plan::Estimate> predict_public_grouped_gemm_row(const Fields& row, const Setup& setup) {
  library::GroupedGemmCall call;
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  ORR_TRY(call.n, row.size("n"));
  ORR_TRY(call.k, row.size("k"));
  ORR_TRY(const int64_t groups, row.integer("groups", 1, 1 << 16));
  ORR_TRY(const int64_t rows, row.integer("m_per_group", 1, int64_t{1} << 32));
  call.rows.assign(static_cast<size_t>(groups), rows);
  return predict(call, setup, {.sets = 1, .fresh = true});
}

}  // namespace orrery::validate
