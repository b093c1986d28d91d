// Predictions of models and of single calls.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "orrery/base/quantity_text.h"
#include "orrery/frontend/model_graph.h"
#include "orrery/frontend/override_precision.h"
#include "orrery/frontend/shard_model.h"
#include "orrery/passes/runner.h"
#include "orrery/plan/call_times.h"
#include "orrery/session/advice.h"
#include "orrery/session/fitting.h"
#include "orrery/session/model_advice.h"
#include "orrery/session/predictor.h"
#include "orrery/session/session.h"
#include "orrery/session/setting.h"
#include "orrery/session/step.h"
#include "orrery/session/towers.h"

namespace orrery::session {

namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;

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

Result<void> check_parallel(const ModelRequest& request, const machine::Machine& machine) {
  const int64_t gpus = parallel_of(request).gpus();
  if (gpus > machine.chip.link.gpus) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.predict] {}: got {}, need at most the {} GPUs of a node of {}",
                      request.ep > request.tp ? "ep" : "tp",
                      gpus,
                      machine.chip.link.gpus,
                      machine.id);
  }
  return {};
}

std::vector<DType> multiplied_types(const machine::Chip& chip) {
  std::vector<DType> types;
  for (const auto& [type, rate] : chip.core.tensor) {
    types.push_back(type);
  }
  return types;
}

/// An imbalance needs experts to be unequal.
Result<void> check_imbalance(const ModelRequest& request, const frontend::Model& model) {
  const auto has_experts = [](const frontend::Layer& layer) { return layer.experts.has_value(); };
  const bool any = std::any_of(
      model.stack.groups.begin(), model.stack.groups.end(), [&](const frontend::LayerGroup& group) {
        return std::any_of(group.body.begin(), group.body.end(), has_experts);
      });
  if (request.imbalance != 0 && !any) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.predict] imbalance: got {} for {}, need a model with experts",
                      request.imbalance,
                      model.name);
  }
  return {};
}

/// Warnings of the model, of its plan, and of a context beyond what it was trained for.
void warn(plan::PlanTime& time,
          const frontend::Model& model,
          const plan::Plan& plan,
          const Step& step,
          int64_t images) {
  std::vector<std::string>& warnings = time.total.warnings;
  warnings.insert(warnings.end(), model.notes.begin(), model.notes.end());
  warnings.insert(warnings.end(), plan.notes.begin(), plan.notes.end());
  warnings.insert(warnings.end(), step.notes.begin(), step.notes.end());
  if (!model.towers.empty() && images == 0 && step.phase != frontend::Phase::Decode) {
    warnings.emplace_back("no images: --images N times the tower of images or sound as well");
  }
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
  for (const kernel::Profile& kernel : *time.kernels) {
    most = std::max(most, kernel.traffic.unique_read + kernel.traffic.unique_write);
  }
  if (most > capacity) {
    time.once.warnings.push_back(fmt::format(
        "operands and result take {}, the machine has {}", to_text(most), to_text(capacity)));
  }
}

}  // namespace

report::Setting Predictor::Known::setting_of(plan::ClockState clock) const {
  report::Setting same = setting;
  same.clock = name(clock);
  return same;
}

Result<Predictor::Known*> Predictor::known_machine(std::string_view name, std::string_view by) {
  ORR_TRY(const By timed_by, parse_by(by));
  std::pair key(std::string(name), timed_by);
  auto found = machines_.find(key);
  if (found == machines_.end()) {
    ORR_TRY(Opened opened, open(catalog_, name, timed_by));
    found = machines_.emplace(std::move(key), std::make_unique<Known>(std::move(opened))).first;
  }
  Known& known = *found->second;
  if (known.times.size() > kMostCalls) {
    known.times.forget();
  }
  return &known;
}

Result<Predictor::Model*> Predictor::known_model(const ModelRequest& request) {
  const frontend::PrecisionNames precision{request.weights, request.activations, request.kv_cache};
  auto found = models_.find(std::pair(request.model, precision));
  if (found == models_.end()) {
    ORR_TRY(frontend::Model read, catalog_.model(request.model));
    ORR_TRY(read, frontend::override_precision(std::move(read), precision));
    const Bytes towers = tower_weights(read);
    found = models_
                .emplace(std::pair(request.model, precision),
                         Model{.model = std::move(read), .graphs = {}, .towers = towers})
                .first;
  }
  return &found->second;
}

Result<const graph::Graph*> Predictor::known_graph(Model& model,
                                                   frontend::Phase phase,
                                                   const frontend::Parallel& parallel) {
  auto found = model.graphs.find({phase, parallel});
  if (found == model.graphs.end()) {
    ORR_TRY(const frontend::Model shard, frontend::shard(model.model, parallel));
    ORR_TRY(graph::Graph graph, frontend::model_graph(shard, phase));
    found = model.graphs.emplace(std::pair(phase, parallel), std::move(graph)).first;
  }
  return &found->second;
}

Fitting Predictor::fitting(Model& model,
                           const graph::Graph& graph,
                           const Step& step,
                           const machine::Chip& chip) {
  return {.whole = model.model,
          .graph_of = [this, &model, phase = step.phase](
                          int64_t tp) { return known_graph(model, phase, {.tp = tp}); },
          .graph = graph,
          .step = step,
          .chip = chip,
          .towers = model.towers};
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
  ORR_TRY(const passes::Engine engine, passes::parse_engine(request.engine));
  ORR_TRY(const plan::ClockState clock, parse_state(request.state));
  ORR_TRY(Step step, step_of(request));
  ORR_TRY(Model* const found, known_model(request));
  ORR_TRY_VOID(check_imbalance(request, found->model));
  ORR_TRY(const graph::Graph* const graph, known_graph(*found, step.phase, parallel_of(request)));
  keep_sizes(*graph, request, step);
  ORR_TRY(graph::Sizes bound, graph::Sizes::bind(*graph, step.sizes));
  ORR_TRY(Known* const known, known_machine(request.machine, request.by));
  const machine::Chip& chip = known->opened.machine().chip;
  ORR_TRY_VOID(passes::check_engine(engine, chip.architecture));
  const passes::Context context{.sizes = std::move(bound),
                                .runtime = runtime,
                                .clock = clock,
                                .architecture = chip.architecture,
                                .engine = engine,
                                .multiplies = multiplied_types(chip),
                                .imbalance = request.imbalance,
                                .cache = found->model.cache,
                                .requests = step.requests};
  ORR_TRY(plan::Plan plan,
          passes::run(*graph, context, {.off = request.passes_off, .known = &rewrites_}));
  const frontend::Model& model = found->model;
  if (step.phase == frontend::Phase::Prefill && model.cache) {  // its graph has keys as computed
    plan.memory.cache = element_size(*model.cache) / element_size(model.dtype) * plan.memory.cache;
  }
  if (request.images > 0) {
    ORR_TRY_VOID(add_towers(found->model, request.images, context, step, plan));
  }
  plan.memory.weights += found->towers;
  plan.memory.reserve = Bytes(request.reserve_gib * kGibibyte);
  plan.host_launch = Duration::from(Seconds(request.host_launch_us.value_or(0) * 1e-6));
  ORR_TRY_VOID(check_parallel(request, known->opened.machine()));
  ORR_TRY(plan::PlanTime time, plan::time_plan(plan, known->times));
  ORR_TRY(const report::Fit fit, fit_of(fitting(*found, *graph, step, chip), plan.memory, request));
  warn(time, found->model, plan, step, request.images);
  report::ModelPrediction prediction{
      .model = found->model.name,
      .phase = request.phase,
      .sizes = step.shown,
      .layers = frontend::layer_count(found->model.stack),
      .tokens = step.tokens,
      .setting = known->setting_of(clock),
      .fit = fit,
      .plan = std::move(plan),
      .time = std::move(time),
      .tp = request.tp,
      .ep = request.ep,
      .engine = request.engine,
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
  ORR_TRY(Known* const known, known_machine(request.machine, request.by));
  ORR_TRY(plan::StepTime time, known->times.time(call, conditions));
  report::CallPrediction prediction{
      .call = std::move(call),
      .conditions = conditions,
      .setting = known->setting_of(conditions.clock),
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
