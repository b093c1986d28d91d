// Rows of models.csv: whole decoders, by their sizes in models.json.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "orrery/frontend/decoder_list.h"
#include "orrery/frontend/model_graph.h"
#include "orrery/passes/runner.h"
#include "orrery/plan/timing.h"
#include "orrery/validate/cases.h"

namespace orrery::validate {

namespace {

/// The runtime that a `mode` column names.
Result<plan::Runtime> runtime_of(std::string_view mode) {
  if (mode == "eager_graph") {
    return plan::Runtime::Graph;
  }
  if (mode == "eager") {
    return plan::Runtime::Eager;
  }
  // max-autotune may take Triton's products where they are faster: predicted as the default.
  if (mode.starts_with("inductor")) {
    return plan::Runtime::Inductor;
  }
  return make_error(ErrorCode::Unsupported,
                    "[validate.models] mode: got '{}', need eager_graph, eager or inductor_default",
                    mode);
}

Result<frontend::Model> decoder_of(const Fields& row, const Setup& setup) {
  ORR_TRY(frontend::Model decoder, frontend::find_decoder(setup.decoders, row.text("model")));
  if (!row.text("layers").empty()) {
    ORR_TRY(const int64_t layers, row.integer("layers", 1, 1000));
    frontend::cut_layers(decoder, layers);
  }
  return decoder;
}

using Bindings = std::vector<std::pair<std::string, int64_t>>;

Result<Bindings> sizes_of(const Fields& row, frontend::Phase phase) {
  ORR_TRY(const int64_t batch, row.integer("batch", 1, int64_t{1} << 20));
  ORR_TRY(const int64_t tokens, row.integer("seq_q", 1, int64_t{1} << 26));
  ORR_TRY(const int64_t context, row.integer("context", 1, int64_t{1} << 26));
  if (phase == frontend::Phase::Decode) {
    if (tokens != 1) {
      return make_error(ErrorCode::Unsupported,
                        "[validate.models] seq_q: got {} in a decode step, need 1",
                        tokens);
    }
    return Bindings{{"batch", batch}, {"context", context}};
  }
  if (context != tokens) {
    return make_error(ErrorCode::Unsupported,
                      "[validate.models] context: got {} with {} new tokens, need as many (chunked "
                      "prefill arrives later)",
                      context,
                      tokens);
  }
  return Bindings{{"batch", batch}, {"seq", tokens}};
}

}  // namespace

std::string model_family(const Fields& row) {
  return std::string(row.text("mode")) + " " + std::string(row.text("phase"));
}

namespace {

Result<plan::Estimate> timed(const graph::Graph& graph,
                             const passes::Context& context,
                             const Setup& setup) {
  ORR_TRY(const plan::Plan plan, passes::run(graph, context));
  ORR_TRY(plan::PlanTime time, plan::time_plan(plan, setup.library, setup.estimator));
  return std::move(time.total);
}

/// Steps are replayed for 15 ms and then timed for 150 ms, five times at least. The clock drops
/// within 20 to 60 ms of load, so the windows of short steps lie across that drop; those of steps
/// over 30 ms are as good as wholly after it (they read 687 to 700 W).
constexpr Duration kSteadyStep = Duration::picoseconds(30'000'000'000);

}  // namespace

Result<plan::Estimate> predict_model_row(const Fields& row, const Setup& setup) {
  ORR_TRY(const plan::Runtime runtime, runtime_of(row.text("mode")));
  ORR_TRY(const frontend::Model decoder, decoder_of(row, setup));
  ORR_TRY(const frontend::Phase phase, frontend::parse_phase(row.text("phase")));
  ORR_TRY(const graph::Graph graph, frontend::model_graph(decoder, phase));
  ORR_TRY(const Bindings bindings, sizes_of(row, phase));
  ORR_TRY(graph::Sizes sizes, graph::Sizes::bind(graph, bindings));
  passes::Context context{
      .sizes = std::move(sizes),
      .runtime = runtime,
      .clock = setup.clock.value_or(plan::ClockState::Mixed),
  };
  ORR_TRY(plan::Estimate estimate, timed(graph, context, setup));
  if (setup.clock || estimate.time < kSteadyStep) {
    return estimate;
  }
  context.clock = plan::ClockState::Steady;
  return timed(graph, context, setup);
}

}  // namespace orrery::validate
