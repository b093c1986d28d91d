// Rows of membound.csv and membound2.csv: kernels over rows x cols in a measuring loop.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

// The operators of membound.csv rotate among up to 48 sets of operands, those of membound2.csv
// among up to 16 (README of the measured data, section A). kInto write into a tensor of the set;
// the others, and all of the second table, into memory that the allocator hands out anew, always
// the same.
constexpr std::array<std::string_view, 7> kInto = {
    "copy", "add", "mul", "gelu", "silu", "exp", "fill"};
constexpr std::array<std::string_view, 12> kFresh = {"cast_fp32",
                                                     "softmax",
                                                     "layer_norm",
                                                     "rms_norm",
                                                     "sum_rows",
                                                     "sum_cols",
                                                     "sum_all",
                                                     "argmax",
                                                     "transpose",
                                                     "topk8",
                                                     "cumsum",
                                                     "gather_rows"};

template <size_t kSize>
bool among(const std::array<std::string_view, kSize>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Sets and `into` (1: into a tensor of the set) stand in columns of their own where a loop is
// another one.
Result<Loop> loop_of(const Fields& row, const library::RowsCall& call) {
  // The loops count three tensors, whatever the operator touches.
  const Bytes operands = 3 * number(call.rows) * number(call.cols) * element_size(call.dtype);
  const bool into = among(kInto, call.op);
  const int64_t most = into || among(kFresh, call.op) ? 48 : 16;
  Loop loop{input_sets(operands, most), !into};
  if (!row.text("sets").empty()) {
    ORR_TRY(loop.sets, row.size("sets"));
  }
  if (!row.text("into").empty()) {
    ORR_TRY(const int64_t own, row.integer("into", 0, 1));
    loop.fresh = own == 0;
  }
  return loop;
}

}  // namespace

std::string rows_family(const Fields& row) {
  return std::string(row.text("op"));
}

Result<plan::Estimate> predict_rows_row(const Fields& row, const Setup& setup) {
  library::RowsCall call;
  call.op = row.text("op");
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  ORR_TRY(call.rows, row.size("rows"));
  ORR_TRY(call.cols, row.size("cols"));
  ORR_TRY(const Loop loop, loop_of(row, call));
  if (call.op == "cat") {
    call.cols *= 2;  // the table has the two operands' sizes, a call that of the result
  }
  return predict(call, setup, loop);
}

}  // namespace orrery::validate
