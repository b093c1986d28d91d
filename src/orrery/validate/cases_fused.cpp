// Rows of inductor_rows.csv: kernels that TorchInductor generates for chains of operators.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "orrery/validate/cases.h"
#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

/// A chain over rows x cols: operands of that size, and rows of `cols` weights, that it reads.
struct Chain {
  std::string_view name;
  std::vector<std::string> ops;
  int64_t reads = 1;
  int64_t weights = 0;
  int64_t writes = 1;
  int64_t reductions = 0;
};

const Chain* find(std::string_view name) {
  static const std::array kChains = {
      Chain{.name = "add", .ops = {"add"}, .reads = 2},
      Chain{.name = "silu_mul", .ops = {"silu", "mul"}, .reads = 2},
      Chain{.name = "rms_norm", .ops = {"rms_norm"}, .weights = 1, .reductions = 1},
      Chain{.name = "add_rms_norm",
            .ops = {"add", "rms_norm"},
            .reads = 2,
            .weights = 1,
            .writes = 2,
            .reductions = 1},
      Chain{.name = "layer_norm", .ops = {"layer_norm"}, .weights = 1, .reductions = 1},
      Chain{.name = "softmax", .ops = {"softmax"}, .reductions = 2},
      Chain{.name = "gelu_bias", .ops = {"add", "gelu"}, .weights = 1},
  };
  for (const Chain& chain : kChains) {
    if (chain.name == name) {
      return &chain;
    }
  }
  return nullptr;
}

}  // namespace

std::string fused_family(const Fields& row) {
  return "inductor " + std::string(row.text("op"));
}

Result<plan::Estimate> predict_fused_row(const Fields& row, const Setup& setup) {
  const Chain* chain = find(row.text("op"));
  ORR_TRY(const DType dtype, parse_dtype(row.text("dtype")));
  if (chain == nullptr) {
    return make_error(ErrorCode::Unsupported,
                      "[validate.fused] op: got '{}', need a chain such as add_rms_norm",
                      row.text("op"));
  }
  library::FusedCall call{.ops = chain->ops, .reductions = chain->reductions};
  ORR_TRY(call.rows, row.size("rows"));
  ORR_TRY(call.cols, row.size("cols"));
  const library::FusedOperand whole{.elements = call.rows * call.cols, .dtype = dtype};
  call.reads.assign(static_cast<size_t>(chain->reads), whole);
  for (int64_t i = 0; i < chain->weights; ++i) {
    call.reads.push_back({.elements = call.cols, .dtype = dtype, .resident = true});
  }
  call.writes.assign(static_cast<size_t>(chain->writes), whole);
  constexpr int64_t kMostSets = 24;
  const Bytes read = number(chain->reads * whole.elements) * element_size(dtype);
  return predict(
      call, setup, {.sets = input_sets(read, kMostSets), .fresh = true, .window_ms = 12});
}

}  // namespace orrery::validate
