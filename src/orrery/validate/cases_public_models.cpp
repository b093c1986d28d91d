// Rows of public e2e.csv: whole models, of which some are a prompt and some a whole generation.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "orrery/frontend/model_graph.h"
#include "orrery/frontend/override_precision.h"
#include "orrery/frontend/shard_model.h"
#include "orrery/passes/runner.h"
#include "orrery/plan/timing.h"
#include "orrery/validate/cases.h"
#include "orrery/validate/unfused.h"

namespace orrery::validate {

namespace {

using frontend::Phase;

struct NamedModel {
  std::string_view row;
  std::string_view model;  // as shipped
};

// Sizes: config.json of openai-community/gpt2-large, google-bert/bert-large-uncased,
// facebook/opt-1.3b, EleutherAI/gpt-j-6b, meta-llama/Llama-2-7b-hf and -70b-hf, tiiuae/falcon-180B;
// GPT-3 2.7B by table 2.1 of arXiv:2005.14165. Those of switch4 and switchxl4 are in no public
// file.
constexpr std::array kModels = {NamedModel{"bert_large", "bert-large"},
                                NamedModel{"gpt2_large", "gpt2-large"},
                                NamedModel{"gpt3_27", "gpt3-2.7b"},
                                NamedModel{"opt_13", "opt-1.3b"},
                                NamedModel{"gptj_6b", "gpt-j-6b"},
                                NamedModel{"llama_7b", "llama-2-7b"},
                                NamedModel{"llama_70b", "llama-2-70b"},
                                NamedModel{"falcon_180b", "falcon-180b"}};

/// How a row's program runs.
struct Run {
  frontend::Model model;
  plan::Runtime runtime = plan::Runtime::Eager;
  passes::Engine engine = passes::Engine::PyTorch;
  bool unfused = false;  // operators of transformers
};

Result<frontend::Model> model_of(const Fields& row, const Setup& setup) {
  std::vector<std::string_view> names;
  for (const NamedModel& each : kModels) {
    if (each.row == row.text("model")) {
      return setup.model(each.model);
    }
    names.push_back(each.row);
  }
  return make_error(
      ErrorCode::Unsupported,
      "[validate.e2e] model: got '{}', need one of {} (sizes of others are not known)",
      row.text("model"),
      fmt::join(names, ", "));
}

/// NeuSight's fp32 forward passes (neusight/Tracing/trace.py): transformers with attention in its
/// operators, logits of all tokens; inf_fusion under torch.compile.
Result<Run> torch_run(const Fields& row, frontend::Model model) {
  const std::string_view phase = row.text("phase");
  if (phase != "inf" && phase != "inf_fusion") {
    return make_error(ErrorCode::Unsupported,
                      "[validate.e2e] phase: got '{}', need inf, inf_fusion, first_token or "
                      "throughput_out_tok_s",
                      phase);
  }
  ORR_TRY(model.dtype, parse_dtype(row.text("dtype")));
  if (model.head.logits) {
    model.head.wanted = frontend::Wanted::All;
  }
  const bool compiled = phase == "inf_fusion";
  return Run{.model = std::move(model),
             .runtime = compiled ? plan::Runtime::Inductor : plan::Runtime::Eager,
             .unfused = true};
}

/// TensorRT-LLM fuses pointwise operators as a compiler does. Rows in fp8 multiply with a scale a
/// tensor and keep fp8 keys and values: 112 sequences of 2176 tokens of a 7B model, 128 GB of fp16
/// ones, ran on 80 GB.
Result<Run> engine_run(const Fields& row, frontend::Model model) {
  const bool fp8 = row.text("dtype") == "fp8";
  ORR_TRY(model.dtype, fp8 ? DType::F16 : parse_dtype(row.text("dtype")));
  if (fp8) {
    ORR_TRY(model,
            frontend::override_precision(std::move(model), {.weights = "fp8", .cache = "fp8"}));
  }
  ORR_TRY(const int64_t ranks, row.integer("tp", 1, 64));
  ORR_TRY(frontend::Model shard, frontend::shard(std::move(model), {.tp = ranks}));
  return Run{.model = std::move(shard),
             .runtime = plan::Runtime::Inductor,
             .engine = passes::Engine::TensorRtLlm};
}

Result<Run> run_of(const Fields& row, const Setup& setup) {
  if (row.text("phase").starts_with("train")) {
    return make_error(
        ErrorCode::Unsupported,
        "[validate.e2e] phase: got '{}', training of whole models is not predicted yet",
        row.text("phase"));
  }
  ORR_TRY(frontend::Model model, model_of(row, setup));
  return row.text("lib") == "tensorrt_llm" ? engine_run(row, std::move(model))
                                           : torch_run(row, std::move(model));
}

/// One step of `batch` sequences: of a prompt of so many tokens, or after so many of context.
struct Step {
  Phase phase = Phase::Prefill;
  int64_t batch = 1;
  int64_t tokens = 1;
};

Result<plan::Estimate> step_time(const Run& run,
                                 const Step& step,
                                 plan::ClockState clock,
                                 const Setup& setup) {
  ORR_TRY(const graph::Graph graph, frontend::model_graph(run.model, step.phase));
  const std::vector<plan::Binding> bindings = {
      {"batch", step.batch}, {step.phase == Phase::Decode ? "context" : "seq", step.tokens}};
  ORR_TRY(graph::Sizes sizes, graph::Sizes::bind(graph, bindings));
  const passes::Context context{
      .sizes = std::move(sizes),
      .runtime = setup.runtime.value_or(run.runtime),
      .clock = setup.clock.value_or(clock),
      .architecture = setup.estimator.machine().chip.architecture,
      .engine = run.engine,
  };
  ORR_TRY(plan::Plan plan, passes::run(graph, context));
  if (run.unfused) {
    unfuse_attention(plan);
    if (plan.runtime == plan::Runtime::Eager) {
      unfuse_gelu(plan);
    }
  }
  ORR_TRY(plan::PlanTime time, plan::time_plan(plan, setup.library, setup.estimator));
  return std::move(time.total);
}

/// A prompt, then a step for each further token. Time is nearly linear in the context, so three
/// contexts stand for all (Simpson's rule).
Result<plan::Estimate> generation_time(const Run& run,
                                       int64_t batch,
                                       std::pair<int64_t, int64_t> tokens,
                                       const Setup& setup) {
  const auto [in, out] = tokens;
  constexpr auto kClock = plan::ClockState::Steady;
  ORR_TRY(plan::Estimate all, step_time(run, {Phase::Prefill, batch, in}, kClock, setup));
  const int64_t last = std::max(in + 1, in + out - 1);
  const std::array<std::pair<int64_t, double>, 3> points = {
      std::pair{in + 1, 1.0}, std::pair{(in + 1 + last) / 2, 4.0}, std::pair{last, 1.0}};
  for (const auto& [context, weight] : points) {
    ORR_TRY(const plan::Estimate step,
            step_time(run, {Phase::Decode, batch, context}, kClock, setup));
    const double times = weight / 6 * static_cast<double>(out - 1);
    all.time = all.time + step.time * times;
    all.low = all.low + step.low * times;
    all.high = all.high + step.high * times;
    all.bound = out > 1 ? step.bound : all.bound;
  }
  return all;
}

}  // namespace

std::string public_model_family(const Fields& row) {
  return fmt::format("{} {} {}", row.text("lib"), row.text("phase"), row.text("dtype"));
}

Result<plan::Estimate> predict_public_model_row(const Fields& row, const Setup& setup) {
  ORR_TRY(const Run run, run_of(row, setup));
  ORR_TRY(const int64_t batch, row.integer("batch", 1, int64_t{1} << 20));
  ORR_TRY(const int64_t in, row.integer("seqlen_in", 1, int64_t{1} << 26));
  if (row.text("phase").starts_with("throughput")) {
    ORR_TRY(const int64_t out, row.integer("seqlen_out", 1, int64_t{1} << 26));
    return generation_time(run, batch, {in, out}, setup);
  }
  const Step prompt{Phase::Prefill, batch, in};
  ORR_TRY(plan::Estimate estimate, step_time(run, prompt, plan::ClockState::Mixed, setup));
  constexpr Duration kSteadyStep = Duration::picoseconds(30'000'000'000);  // as of models.csv
  if (estimate.time < kSteadyStep) {
    return estimate;
  }
  return step_time(run, prompt, plan::ClockState::Steady, setup);
}

}  // namespace orrery::validate
