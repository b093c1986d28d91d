// Rows of gemm.csv, attention.csv and membound.csv: single calls in a measuring loop.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "orrery/plan/timing.h"
#include "orrery/validate/cases.h"

namespace orrery::validate {

namespace {

/// How many copies of its operands a measuring loop rotates among: together 320 MiB, so that L2 is
/// cold, but not more than `most` (README of the measured data, section A).
int64_t input_sets(Bytes operands, int64_t most) {
  constexpr double kRotated = 320.0 * 1024 * 1024;
  const double sets = std::ceil(kRotated / std::max(1.0, operands.value()));
  return static_cast<int64_t>(std::min(std::max(1.0, sets), static_cast<double>(most)));
}

/// A loop of one call in a CUDA graph: operands are as warm as all their copies fit into L2, and
/// the window lies across the drop of the clock under load. The result goes to one of as many
/// copies, or (`fresh`) to memory that the framework's allocator hands out anew each time, always
/// the same.
struct Loop {
  int64_t sets = 1;
  bool fresh = false;
};

plan::Conditions conditions_of(const Setup& setup, const Loop& loop) {
  plan::Conditions conditions;
  const bool warm = setup.cache == plan::CacheState::Warm;
  const bool cold = setup.cache == plan::CacheState::Cold;
  conditions.weights = cold ? plan::CacheState::Cold : plan::CacheState::Warm;
  conditions.activations = conditions.weights;
  conditions.input_sets = warm ? 1 : loop.sets;
  conditions.output_sets = warm || loop.fresh ? 1 : loop.sets;
  conditions.clock = setup.clock.value_or(plan::ClockState::Mixed);
  return conditions;
}

Result<plan::Estimate> predict(const library::Call& call, const Setup& setup, const Loop& loop) {
  ORR_TRY(plan::StepTime time,
          plan::time_call(call, conditions_of(setup, loop), setup.library, setup.estimator));
  return std::move(time.once);
}

double number(int64_t value) {
  return static_cast<double>(value);
}

/// fp8 products are written as bf16, tf32 is stored as fp32.
DType output_of(DType input) {
  switch (input) {
    case DType::F8E4M3:
    case DType::F8E5M2:
    case DType::F4E2M1:
      return DType::BF16;
    case DType::TF32:
      return DType::F32;
    case DType::F32:
    case DType::F16:
    case DType::BF16:
    case DType::I64:
    case DType::I32:
    case DType::I8:
    case DType::Bool:
      return input;
  }
  ORR_UNREACHABLE();
}

}  // namespace

std::string gemm_family(const Fields& row) {
  return "gemm " + std::string(row.text("dtype"));
}

Result<plan::Estimate> predict_gemm_row(const Fields& row, const Setup& setup) {
  library::GemmCall call;
  ORR_TRY(call.input, parse_dtype(row.text("dtype")));
  ORR_TRY(call.batch, row.size("batch"));
  ORR_TRY(call.m, row.size("m"));
  ORR_TRY(call.n, row.size("n"));
  ORR_TRY(call.k, row.size("k"));
  call.output = output_of(call.input);
  const double inputs = (number(call.m) + number(call.n)) * number(call.k);
  const Bytes operands =
      number(call.batch) * (inputs * element_size(call.input) +
                            number(call.m) * number(call.n) * element_size(call.output));
  const bool fresh = call.input == DType::F8E4M3;  // torch._scaled_mm makes its result
  return predict(call, setup, {input_sets(operands, 48), fresh});
}

std::string attention_family(const Fields& row) {
  const bool decode = row.text("seq_q") == "1";
  return std::string(row.text("backend")) + (decode ? " decode" : " prefill");
}

Result<plan::Estimate> predict_attention_row(const Fields& row, const Setup& setup) {
  library::AttentionCall call;
  call.backend = row.text("backend");
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  ORR_TRY(call.batch, row.size("batch"));
  ORR_TRY(call.heads, row.size("heads"));
  ORR_TRY(call.kv_heads, row.size("kv_heads"));
  ORR_TRY(call.seq_q, row.size("seq_q"));
  ORR_TRY(call.seq_kv, row.size("seq_kv"));
  ORR_TRY(call.head_dim, row.size("head_dim"));
  ORR_TRY(const int64_t causal, row.integer("causal", 0, 1));
  call.causal = causal == 1;
  const double rows =
      number(call.heads) * number(call.seq_q) + number(call.kv_heads) * number(call.seq_kv);
  const Bytes operands =
      2 * number(call.batch) * number(call.head_dim) * rows * element_size(call.dtype);
  return predict(call, setup, {input_sets(operands, 24), true});
}

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
