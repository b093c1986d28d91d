// Rows of public norm.csv, elementwise.csv, softmax.csv and quantize.csv.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <string_view>

#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

struct KindName {
  std::string_view kind;  // as the tables say it
  std::string_view op;    // as the libraries know it
};

// Operators with a scalar (addu ..) read one operand.
constexpr std::array kKinds = {KindName{"layernorm", "layer_norm"},
                               KindName{"rmsnorm", "rms_norm"},
                               KindName{"silu_mul", "silu_mul"},
                               KindName{"scale_matrix", "static_quantize_fp8"},
                               KindName{"add", "add"},
                               KindName{"mul", "mul"},
                               KindName{"div", "div"},
                               KindName{"addu", "scale"},
                               KindName{"mulu", "scale"},
                               KindName{"divu", "scale"},
                               KindName{"softmax", "softmax"},
                               KindName{"gelu", "gelu"},
                               KindName{"relu", "relu"},
                               KindName{"tanh", "tanh"}};

Result<std::string> operator_of(const Fields& row, const Setup& setup) {
  const std::string_view kind = row.text("kind");
  if (kind.empty() && setup.file == "softmax") {
    return std::string("softmax");
  }
  for (const KindName& each : kKinds) {
    if (each.kind == kind) {
      return std::string(each.op);
    }
  }
  return make_error(ErrorCode::Unsupported,
                    "[validate.rows] kind: got '{}', need an operator that is known",
                    kind);
}

Result<plan::Estimate> predict_rows(library::RowsCall call, const Fields& row, const Setup& setup) {
  ORR_TRY(call.op, operator_of(row, setup));
  // One set of buffers, read and written again and again.
  return predict(call, setup, {.sets = 1, .fresh = false});
}

}  // namespace

std::string public_rows_family(const Fields& row) {
  return std::string(row.text("lib")) + " " + std::string(row.text("kind"));
}

Result<plan::Estimate> predict_public_rows_row(const Fields& row, const Setup& setup) {
  library::RowsCall call;
  ORR_TRY(call.rows, row.size("rows"));
  ORR_TRY(call.cols, row.size("cols"));
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  return predict_rows(call, row, setup);
}

Result<plan::Estimate> predict_public_quantize_row(const Fields& row, const Setup& setup) {
  library::RowsCall call;
  ORR_TRY(call.rows, row.size("m"));
  ORR_TRY(call.cols, row.size("k"));
  call.dtype = DType::BF16;  // of what is quantised
  return predict_rows(call, row, setup);
}

}  // namespace orrery::validate
