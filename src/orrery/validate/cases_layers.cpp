// Rows of mixed.csv and tp2_layers.csv: layers of decoders, alone, packed or on several GPUs.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "orrery/frontend/decoder_list.h"
#include "orrery/frontend/model_graph.h"
#include "orrery/frontend/shard_model.h"
#include "orrery/passes/runner.h"
#include "orrery/passes/strip.h"
#include "orrery/plan/timing.h"
#include "orrery/validate/cases.h"

namespace orrery::validate {

namespace {

using Bindings = std::vector<std::pair<std::string, int64_t>>;

constexpr int64_t kMostTokens = int64_t{1} << 26;

/// What was measured has neither embedding, positions and logits, nor writes to caches.
constexpr passes::StripOptions kLayersAlone{.outside = true, .rotary = true, .cache_writes = true};

Result<frontend::Model> decoder_of(const Fields& row, const Setup& setup) {
  ORR_TRY(frontend::Model decoder, frontend::find_decoder(setup.decoders, row.text("model")));
  ORR_TRY(const int64_t layers, row.integer("layers", 1, 1000));
  frontend::cut_layers(decoder, layers);
  return decoder;
}

Result<plan::Plan> layers_plan(const frontend::Model& decoder,
                               frontend::Phase phase,
                               const Bindings& bindings,
                               std::vector<passes::Request> requests,
                               const Setup& setup) {
  ORR_TRY(const graph::Graph whole, frontend::model_graph(decoder, phase));
  ORR_TRY(const graph::Graph layers, passes::strip(whole, kLayersAlone));
  ORR_TRY(graph::Sizes sizes, graph::Sizes::bind(layers, bindings));
  const passes::Context context{.sizes = std::move(sizes),
                                .runtime = setup.runtime.value_or(plan::Runtime::Graph),
                                .clock = setup.clock.value_or(plan::ClockState::Mixed),
                                .requests = std::move(requests)};
  return passes::run(layers, context, {.off = {"mixed_step"}});
}

/// Windows of 60 to 150 ms: those of steps over 30 ms lie wholly behind the drop of the clock.
constexpr Duration kSteadyStep = Duration::picoseconds(30'000'000'000);

Result<plan::Estimate> timed(plan::Plan plan, const Setup& setup) {
  ORR_TRY(plan::PlanTime time, plan::time_plan(plan, setup.library, setup.estimator));
  if (setup.clock || time.total.time < kSteadyStep) {
    return std::move(time.total);
  }
  for (plan::Step& step : plan.steps) {
    step.conditions.clock = plan::ClockState::Steady;
  }
  ORR_TRY(time, plan::time_plan(plan, setup.library, setup.estimator));
  return std::move(time.total);
}

/// One chunk, if any, and the decoding sequences behind it.
Result<std::vector<passes::Request>> requests_of(const Fields& row) {
  ORR_TRY(const int64_t chunk, row.integer("chunk", 0, kMostTokens));
  ORR_TRY(const int64_t before, row.integer("chunk_context", 0, kMostTokens));
  ORR_TRY(const int64_t decodes, row.integer("decodes", 0, int64_t{1} << 16));
  ORR_TRY(const int64_t context, row.integer("decode_context", 1, kMostTokens));
  std::vector<int64_t> lengths(static_cast<size_t>(decodes), context);
  if (!row.text("decode_spread").empty()) {
    ORR_TRY(lengths, row.integers("decode_spread", 1, kMostTokens));
  }
  std::vector<passes::Request> requests;
  if (chunk > 0) {
    requests.push_back({.tokens = chunk, .cached = before});
  }
  for (const int64_t length : lengths) {
    requests.push_back({.tokens = 1, .cached = length - 1});
  }
  if (requests.empty()) {
    return make_error(ErrorCode::InvalidInput,
                      "[validate.mixed] chunk, decodes: got 0 and 0, need a sequence");
  }
  return requests;
}

Result<plan::Plan> mixed_plan(const Fields& row, const Setup& setup) {
  ORR_TRY(const frontend::Model decoder, decoder_of(row, setup));
  ORR_TRY(std::vector<passes::Request> requests, requests_of(row));
  int64_t tokens = 0;
  for (const passes::Request& request : requests) {
    tokens += request.tokens;
  }
  return layers_plan(decoder,
                     frontend::Phase::Prefill,
                     {{"batch", 1}, {"seq", tokens}},
                     std::move(requests),
                     setup);
}

Result<plan::Estimate> tp_estimate(const Fields& row, const Setup& setup, bool collectives) {
  ORR_TRY(const frontend::Model decoder, decoder_of(row, setup));
  ORR_TRY(const int64_t ranks, row.integer("tp", 1, 64));
  ORR_TRY(const frontend::Model shard, frontend::shard(decoder, {.tp = ranks}));
  ORR_TRY(const frontend::Phase phase, frontend::parse_phase(row.text("phase")));
  ORR_TRY(const int64_t batch, row.integer("batch", 1, int64_t{1} << 20));
  ORR_TRY(const int64_t tokens, row.integer("seq_q", 1, kMostTokens));
  ORR_TRY(const int64_t context, row.integer("context", 1, kMostTokens));
  const bool decode = phase == frontend::Phase::Decode;
  const Bindings bindings = {{"batch", batch},
                             {decode ? "context" : "seq", decode ? context : tokens}};
  ORR_TRY(plan::Plan plan, layers_plan(shard, phase, bindings, {}, setup));
  if (!collectives) {
    std::erase_if(plan.steps, [](const plan::Step& step) {
      return std::holds_alternative<library::CollectiveCall>(step.call);
    });
  }
  return timed(std::move(plan), setup);
}

}  // namespace

std::string mixed_family(const Fields& row) {
  return std::string(row.text("model")) + (row.text("chunk") == "0" ? " decode" : " mixed");
}

Result<plan::Estimate> predict_mixed_row(const Fields& row, const Setup& setup) {
  ORR_TRY(plan::Plan plan, mixed_plan(row, setup));
  return timed(std::move(plan), setup);
}

std::string mixed_attention_family(const Fields& row) {
  return std::string(row.text("model")) + " attention of a layer";
}

Result<plan::Estimate> predict_mixed_attention(const Fields& row, const Setup& setup) {
  ORR_TRY(const plan::Plan plan, mixed_plan(row, setup));
  for (const plan::Step& step : plan.steps) {
    if (std::holds_alternative<library::AttentionCall>(step.call)) {
      plan::Conditions alone = step.conditions;
      alone.follows_other = false;
      ORR_TRY(plan::StepTime time,
              plan::time_call(step.call, alone, setup.library, setup.estimator));
      return std::move(time.once);
    }
  }
  return make_error(ErrorCode::Unsupported, "[validate.mixed] model: got no attention, need one");
}

std::string tp_family(const Fields& row) {
  return std::string("tp ") + std::string(row.text("phase"));
}

Result<plan::Estimate> predict_tp_row(const Fields& row, const Setup& setup) {
  return tp_estimate(row, setup, true);
}

std::string tp_alone_family(const Fields& row) {
  return tp_family(row) + " without all-reduces";
}

Result<plan::Estimate> predict_tp_alone(const Fields& row, const Setup& setup) {
  return tp_estimate(row, setup, false);
}

}  // namespace orrery::validate
