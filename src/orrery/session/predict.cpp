// Session: predictions of models and of single calls.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "orrery/base/quantity_text.h"
#include "orrery/frontend/decoder.h"
#include "orrery/passes/runner.h"
#include "orrery/plan/call_times.h"
#include "orrery/session/advice.h"
#include "orrery/session/session.h"
#include "orrery/session/setting.h"

namespace orrery::session {

namespace {

using Sizes = std::vector<plan::Binding>;

Result<int64_t> checked(std::string_view what, int64_t value, int64_t most) {
  if (value < 1 || value > most) {
    return make_error(
        ErrorCode::InvalidInput, "[session.predict] {}: got {}, need 1 to {}", what, value, most);
  }
  return value;
}

Error not_of_phase(std::string_view what, std::string_view phase, std::string_view need) {
  return make_error(ErrorCode::InvalidInput,
                    "[session.predict] {}: does not belong to {}, need {}",
                    what,
                    phase,
                    need);
}

/// The named extents of the phase's graph.
Result<Sizes> sizes_of(const ModelRequest& request, frontend::Phase phase) {
  constexpr int64_t kMostBatch = int64_t{1} << 20;
  constexpr int64_t kMostTokens = int64_t{1} << 26;
  ORR_TRY(const int64_t batch, checked("batch", request.batch, kMostBatch));
  const bool decode = phase == frontend::Phase::Decode;
  if (decode && request.seq) {
    return not_of_phase("seq", "decode", "context (the tokens attended to)");
  }
  if (!decode && request.context && request.context != request.seq) {
    return not_of_phase("context", "prefill", "seq (chunked prefill arrives later)");
  }
  ORR_TRY(const int64_t tokens,
          decode ? checked("context", request.context.value_or(1024), kMostTokens)
                 : checked("seq", request.seq.value_or(512), kMostTokens));
  // Keeps every count of a decoder's elements inside 64 bits.
  ORR_TRY_VOID(checked("batch x tokens", batch * tokens, int64_t{1} << 36));
  return Sizes{{"batch", batch}, {decode ? "context" : "seq", tokens}};
}

Result<report::Fit> fit_of(const graph::Graph& graph,
                           const Sizes& sizes,
                           const plan::Memory& memory,
                           Bytes capacity,
                           double usable) {
  report::Fit fit{.capacity = capacity, .usable = usable};
  fit.fits = memory.total() <= usable * capacity;
  if (!fit.fits) {
    ORR_TRY(fit.largest_batch, plan::largest_extent(graph, sizes, "batch", usable * capacity));
  }
  return fit;
}

/// A kernel whose operands exceed the machine's memory cannot run: its time is what it would be.
void warn_of_memory(plan::StepTime& time, Bytes capacity) {
  Bytes most{0.0};
  for (const kernel::Profile& kernel : time.kernels) {
    most = std::max(most, kernel.traffic.unique_read + kernel.traffic.unique_write);
  }
  if (most > capacity) {
    time.once.warnings.push_back(fmt::format(
        "operands and result take {}, the machine has {}", to_text(most), to_text(capacity)));
  }
}

}  // namespace

Result<report::ModelPrediction> Session::predict(const ModelRequest& request) const {
  if (!(request.usable_memory > 0) || request.usable_memory > 1) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.predict] usable memory: got {}, need a share above 0 and up to 1",
                      request.usable_memory);
  }
  ORR_TRY(const frontend::Phase phase, frontend::parse_phase(request.phase));
  ORR_TRY(const plan::Runtime runtime, plan::parse_runtime(request.runtime));
  ORR_TRY(const plan::ClockState clock, parse_state(request.state));
  ORR_TRY(const frontend::Decoder decoder, catalog_.model(request.model));
  ORR_TRY(const graph::Graph graph, frontend::decoder_graph(decoder, phase));
  ORR_TRY(const Sizes sizes, sizes_of(request, phase));
  ORR_TRY(graph::Sizes bound, graph::Sizes::bind(graph, sizes));
  const passes::Context context{.sizes = std::move(bound), .runtime = runtime, .clock = clock};
  const passes::RunOptions options{.off = request.passes_off};
  ORR_TRY(plan::Plan plan, passes::run(graph, context, options));
  ORR_TRY(const Opened opened, open(catalog_, request.machine));
  ORR_TRY(plan::PlanTime time, plan::time_plan(plan, opened.library, opened.estimator));
  const Bytes capacity = opened.machine().chip.dram.capacity;
  ORR_TRY(const report::Fit fit,
          fit_of(graph, sizes, plan.memory, capacity, request.usable_memory));
  const bool decode = phase == frontend::Phase::Decode;
  const double tokens =
      static_cast<double>(request.batch) * (decode ? 1.0 : static_cast<double>(sizes[1].second));
  if (decoder.most_positions > 0 && sizes[1].second > decoder.most_positions) {
    time.total.warnings.push_back(fmt::format("{} {} is more than the {} the model was trained for",
                                              sizes[1].first,
                                              sizes[1].second,
                                              decoder.most_positions));
  }
  return report::ModelPrediction{
      .model = decoder.name,
      .phase = std::string(name(phase)),
      .sizes = sizes,
      .layers = decoder.layers,
      .tokens = tokens,
      .setting = setting(opened, clock),
      .fit = fit,
      .plan = std::move(plan),
      .time = std::move(time),
  };
}

Result<report::CallPrediction> Session::predict(const CallRequest& request) const {
  ORR_TRY(library::Call call, parse_call(request.op, request.arguments));
  plan::Conditions conditions;
  ORR_TRY(conditions.clock, parse_state(request.state));
  ORR_TRY(conditions.weights, parse_cache(request.cache));
  conditions.activations = conditions.weights;
  ORR_TRY(const Opened opened, open(catalog_, request.machine));
  plan::CallTimes times(opened.library, opened.estimator);
  ORR_TRY(plan::StepTime time, times.time(call, conditions));
  report::CallPrediction prediction{
      .call = std::move(call),
      .conditions = conditions,
      .setting = setting(opened, conditions.clock),
      .time = std::move(time),
  };
  warn_of_memory(prediction.time, opened.machine().chip.dram.capacity);
  if (request.advice) {
    prediction.advice = advice(request.op, request.arguments, prediction.time, conditions, times);
  }
  return prediction;
}

}  // namespace orrery::session
