// Predictions of models and of single calls.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "orrery/base/quantity_text.h"
#include "orrery/frontend/model_graph.h"
#include "orrery/frontend/shard_model.h"
#include "orrery/passes/fp8_products.h"
#include "orrery/passes/runner.h"
#include "orrery/plan/call_times.h"
#include "orrery/session/advice.h"
#include "orrery/session/model_advice.h"
#include "orrery/session/predictor.h"
#include "orrery/session/requests.h"
#include "orrery/session/session.h"
#include "orrery/session/setting.h"

namespace orrery::session {

namespace {

using Sizes = std::vector<plan::Binding>;

constexpr double kGibibyte = 1024.0 * 1024 * 1024;

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

/// A step, before its model is known.
struct Step {
  frontend::Phase phase = frontend::Phase::Decode;
  std::vector<passes::Request> requests;
  Sizes sizes;          // of the graph
  Sizes shown;          // of the report
  double tokens = 0;    // that the step makes, or reads
  int64_t context = 0;  // tokens of the longest sequence
};

Result<void> read_mixed(const ModelRequest& request, Step& step) {
  if (request.requests.empty() || request.seq || request.context || request.batch != 1) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.predict] mixed: got {}, need requests alone",
                      request.requests.empty() ? "no requests" : "batch, seq or context");
  }
  ORR_TRY(step.requests, read_requests(request.requests));
  int64_t tokens = 0;
  int64_t keys = 0;
  for (const passes::Request& each : step.requests) {
    tokens += each.tokens;
    keys += each.tokens + each.cached;
    step.context = std::max(step.context, each.tokens + each.cached);
  }
  step.phase = frontend::Phase::Prefill;
  step.sizes = {{"batch", 1}, {"seq", tokens}};
  step.shown = {{"requests", static_cast<int64_t>(step.requests.size())},
                {"tokens", tokens},
                {"context", keys}};
  step.tokens = static_cast<double>(tokens);
  return {};
}

Result<Step> step_of(const ModelRequest& request) {
  Step step;
  if (request.phase == "mixed") {
    ORR_TRY_VOID(read_mixed(request, step));
    return step;
  }
  if (!request.requests.empty()) {
    return not_of_phase("requests", request.phase, "--phase mixed");
  }
  ORR_TRY(step.phase, frontend::parse_phase(request.phase));
  ORR_TRY(step.sizes, sizes_of(request, step.phase));
  return step;
}

/// Of a step that is not mixed: what of the sizes its graph has.
void keep_sizes(const graph::Graph& graph, const ModelRequest& request, Step& step) {
  if (!step.requests.empty()) {
    return;
  }
  std::erase_if(step.sizes, [&graph](const plan::Binding& size) {  // an image has its own
    return std::find(graph.dims().begin(), graph.dims().end(), size.first) == graph.dims().end();
  });
  step.shown = step.sizes;
  step.context = step.sizes.size() < 2 ? 0 : step.sizes[1].second;
  const bool one = step.phase == frontend::Phase::Decode || step.sizes.size() < 2;
  step.tokens =
      static_cast<double>(request.batch) * (one ? 1.0 : static_cast<double>(step.context));
}

/// GPUs of the node that have to share a model for it to fit; 0: all of them are too few.
Result<int64_t> smallest_tp(const frontend::Model& whole,
                            const Step& step,
                            Bytes budget,
                            std::pair<int64_t, int64_t> between) {
  for (int64_t tp = between.first; tp <= between.second; tp *= 2) {
    const auto shard = frontend::shard(whole, tp);
    if (!shard.ok()) {
      continue;
    }
    ORR_TRY(const graph::Graph graph, frontend::model_graph(*shard, step.phase));
    ORR_TRY(const graph::Sizes sizes, graph::Sizes::bind(graph, step.sizes));
    if (plan::memory_of(graph, sizes).total() <= budget) {
      return tp;
    }
  }
  return 0;
}

/// Whether a step fits into the usable part of the machine's memory; what it takes of the machine
/// and the request is their own.
struct Fitter {
  const frontend::Model& whole;
  const graph::Graph& graph;
  const Step& step;
  const machine::Chip& chip;

  Result<report::Fit> fit(const plan::Memory& memory, const ModelRequest& request) const {
    report::Fit fit{.capacity = chip.dram.capacity, .usable = request.usable_memory};
    const Bytes usable = fit.usable * fit.capacity;
    fit.fits = memory.total() <= usable;
    if (fit.fits) {
      return fit;
    }
    fit.fp8_cache = memory.total() - 0.5 * memory.cache <= usable;
    const Bytes budget = usable - memory.reserve;
    if (step.requests.empty() && budget > Bytes(0.0)) {
      ORR_TRY(fit.largest_batch, plan::largest_extent(graph, step.sizes, "batch", budget));
      ORR_TRY(fit.smallest_tp, smallest_tp(whole, step, budget, {2 * request.tp, chip.link.gpus}));
    }
    return fit;
  }
};

Result<void> check_shares(const ModelRequest& request) {
  if (!(request.usable_memory > 0) || request.usable_memory > 1) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.predict] usable memory: got {}, need a share above 0 and up to 1",
                      request.usable_memory);
  }
  constexpr double kMostGib = 1e6;
  if (!(request.reserve_gib >= 0 && request.reserve_gib < kMostGib)) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.predict] reserve: got {} GiB, need 0 or more",
                      request.reserve_gib);
  }
  return {};
}

Result<void> check_tp(int64_t tp, const machine::Machine& machine) {
  if (tp > machine.chip.link.gpus) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.predict] tp: got {}, need at most the {} GPUs of a node of {}",
                      tp,
                      machine.chip.link.gpus,
                      machine.id);
  }
  return {};
}

/// Warnings of the model, of its plan, and of a context beyond what it was trained for.
void warn(plan::PlanTime& time,
          const frontend::Model& model,
          const plan::Plan& plan,
          const Step& step) {
  std::vector<std::string>& warnings = time.total.warnings;
  warnings.insert(warnings.end(), model.notes.begin(), model.notes.end());
  warnings.insert(warnings.end(), plan.notes.begin(), plan.notes.end());
  if (model.most_positions > 0 && step.context > model.most_positions) {
    warnings.push_back(fmt::format("{} {} is more than the {} the model was trained for",
                                   step.requests.empty() ? step.sizes[1].first : "context",
                                   step.context,
                                   model.most_positions));
  }
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

Result<Predictor::Known*> Predictor::known_machine(std::string_view name) {
  auto found = machines_.find(name);
  if (found == machines_.end()) {
    ORR_TRY(Opened opened, open(catalog_, name));
    found = machines_.emplace(name, std::make_unique<Known>(std::move(opened))).first;
  }
  Known& known = *found->second;
  if (known.times.size() > kMostCalls) {
    known.times.forget();
  }
  return &known;
}

Result<Predictor::Model*> Predictor::known_model(const std::string& name) {
  auto found = models_.find(name);
  if (found == models_.end()) {
    ORR_TRY(frontend::Model read, catalog_.model(name));
    found = models_.emplace(name, Model{std::move(read), {}}).first;
  }
  return &found->second;
}

Result<const graph::Graph*> Predictor::known_graph(Model& model,
                                                   frontend::Phase phase,
                                                   int64_t tp) {
  auto found = model.graphs.find({phase, tp});
  if (found == model.graphs.end()) {
    ORR_TRY(const frontend::Model shard, frontend::shard(model.model, tp));
    ORR_TRY(graph::Graph graph, frontend::model_graph(shard, phase));
    found = model.graphs.emplace(std::pair(phase, tp), std::move(graph)).first;
  }
  return &found->second;
}

const Result<report::ModelPrediction>& Predictor::predict(const ModelRequest& request) {
  for (const auto& [asked, answer] : answers_) {
    if (asked == request) {
      return answer;
    }
  }
  if (answers_.size() == kAnswers) {
    answers_.pop_back();
  }
  answers_.emplace_front(request, compute(request));
  return answers_.front().second;
}

Result<report::ModelPrediction> Predictor::compute(const ModelRequest& request) {
  ORR_TRY_VOID(check_shares(request));
  ORR_TRY(const plan::Runtime runtime, plan::parse_runtime(request.runtime));
  ORR_TRY(const plan::ClockState clock, parse_state(request.state));
  ORR_TRY(Step step, step_of(request));
  ORR_TRY(Model* const found, known_model(request.model));
  ORR_TRY(const graph::Graph* const graph, known_graph(*found, step.phase, request.tp));
  keep_sizes(*graph, request, step);
  ORR_TRY(graph::Sizes bound, graph::Sizes::bind(*graph, step.sizes));
  ORR_TRY(Known* const known, known_machine(request.machine));
  const passes::Context context{.sizes = std::move(bound),
                                .runtime = runtime,
                                .clock = clock,
                                .architecture = known->opened.machine().chip.architecture,
                                .requests = step.requests};
  ORR_TRY(plan::Plan plan, passes::run(*graph, context, {.off = request.passes_off}));
  if (request.fp8_products) {
    passes::use_fp8_products(plan);
  }
  plan.memory.reserve = Bytes(request.reserve_gib * kGibibyte);
  plan.host_launch = Duration::from(Seconds(request.host_launch_us.value_or(0) * 1e-6));
  ORR_TRY_VOID(check_tp(request.tp, known->opened.machine()));
  ORR_TRY(plan::PlanTime time, plan::time_plan(plan, known->times));
  const Fitter fitter{found->model, *graph, step, known->opened.machine().chip};
  ORR_TRY(const report::Fit fit, fitter.fit(plan.memory, request));
  warn(time, found->model, plan, step);
  report::ModelPrediction prediction{
      .model = found->model.name,
      .phase = request.phase,
      .sizes = step.shown,
      .layers = frontend::layer_count(found->model.stack),
      .tokens = step.tokens,
      .setting = setting(known->opened, clock),
      .fit = fit,
      .plan = std::move(plan),
      .time = std::move(time),
      .tp = request.tp,
  };
  if (request.advice) {
    prediction.advice = model_advice(
        request, prediction, [this](const ModelRequest& other) { return compute(other); });
  }
  return prediction;
}

Result<report::CallPrediction> Predictor::predict(const CallRequest& request) {
  ORR_TRY(library::Call call, parse_call(request.op, request.arguments));
  plan::Conditions conditions;
  ORR_TRY(conditions.clock, parse_state(request.state));
  ORR_TRY(conditions.weights, parse_cache(request.cache));
  conditions.activations = conditions.weights;
  ORR_TRY(Known* const known, known_machine(request.machine));
  ORR_TRY(plan::StepTime time, known->times.time(call, conditions));
  report::CallPrediction prediction{
      .call = std::move(call),
      .conditions = conditions,
      .setting = setting(known->opened, conditions.clock),
      .time = std::move(time),
  };
  warn_of_memory(prediction.time, known->opened.machine().chip.dram.capacity);
  if (request.advice) {
    prediction.advice =
        advice(request.op, request.arguments, prediction.time, conditions, known->times);
  }
  return prediction;
}

Result<report::ModelPrediction> Session::predict(const ModelRequest& request) const {
  return Predictor(catalog_).predict(request);
}

Result<report::CallPrediction> Session::predict(const CallRequest& request) const {
  return Predictor(catalog_).predict(request);
}

}  // namespace orrery::session
