// Rows of public moe_a2a.csv: tokens to the GPUs of their experts, and results back.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "orrery/plan/timing.h"
#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

using library::ExchangePhase;

constexpr std::string_view kNormal = "normal";
constexpr std::string_view kLowLatency = "low_latency";

Result<library::ExpertExchangeCall> call_of(const Fields& row, ExchangePhase phase) {
  library::ExpertExchangeCall call;
  const std::string_view kind = row.text("kind");
  if (kind != kNormal && kind != kLowLatency) {
    return make_error(
        ErrorCode::Unsupported,
        "[validate.exchange] kind: got '{}', need normal or low_latency: DeepEP inside "
        "a node (other exchanges and networks are not described)",
        kind);
  }
  ORR_TRY(const int64_t nodes, row.integer_or("nodes", 1, 1 << 20));
  if (nodes > 1) {
    return make_error(
        ErrorCode::Unsupported,
        "[validate.exchange] nodes: got {}, need 1: links inside a node are described, "
        "networks are not",
        nodes);
  }
  constexpr int64_t kNode = 8;  // GPUs of a node, where the column is missing
  ORR_TRY(call.gpus, row.integer_or("ngpus", kNode, 1 << 20));
  ORR_TRY(call.tokens, row.size("tokens"));
  ORR_TRY(call.hidden, row.size("hidden"));
  ORR_TRY(call.experts, row.integer("experts", 1, 1 << 20));
  ORR_TRY(call.topk, row.integer("topk", 1, 1 << 20));
  call.phase = phase;
  call.dtype = phase == ExchangePhase::Dispatch ? DType::F8E4M3 : DType::BF16;
  if (kind == kLowLatency) {
    call.backend = "deepep-low-latency";
  } else {
    ORR_TRY(call.sms, row.integer_or("sms", 0, 1 << 10));
  }
  return call;
}

/// Normal kernels are called one after the other by the host, which keeps ahead, and timed between
/// events; low latency kernels are durations of a profiler. Buffers stay the same.
Result<plan::Estimate> predict_phase(const Fields& row, const Setup& setup, ExchangePhase phase) {
  ORR_TRY(const library::ExpertExchangeCall call, call_of(row, phase));
  plan::Conditions conditions = conditions_of(setup, {.sets = 1, .fresh = false});
  conditions.kernel_only = row.text("kind") == kLowLatency;
  ORR_TRY(plan::StepTime time, plan::time_call(call, conditions, setup.library, setup.estimator));
  return std::move(time.once);
}

/// By kind, phase and whether a rank's tokens have a mebibyte in bf16.
std::string family_of(const Fields& row, std::string_view phase) {
  constexpr int64_t kMebibyte = 1 << 20;
  const Result<int64_t> tokens = row.size("tokens");
  const Result<int64_t> hidden = row.size("hidden");
  const bool large = tokens.ok() && hidden.ok() && *tokens >= kMebibyte / 2 / *hidden;
  return fmt::format("{}{} {} 1 MiB", row.text("kind"), phase, large ? "from" : "below");
}

}  // namespace

std::string exchange_family(const Fields& row) {
  return family_of(row, "");
}

std::string dispatch_family(const Fields& row) {
  return family_of(row, " dispatch");
}

std::string combine_family(const Fields& row) {
  return family_of(row, " combine");
}

Result<plan::Estimate> predict_dispatch(const Fields& row, const Setup& setup) {
  return predict_phase(row, setup, ExchangePhase::Dispatch);
}

Result<plan::Estimate> predict_combine(const Fields& row, const Setup& setup) {
  return predict_phase(row, setup, ExchangePhase::Combine);
}

Result<plan::Estimate> predict_exchange_row(const Fields& row, const Setup& setup) {
  ORR_TRY(plan::Estimate both, predict_dispatch(row, setup));
  ORR_TRY(const plan::Estimate combine, predict_combine(row, setup));
  both.time = both.time + combine.time;
  both.low = both.low + combine.low;
  both.high = both.high + combine.high;
  return both;
}

}  // namespace orrery::validate
