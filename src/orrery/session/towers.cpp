// A tower's graph, bound to the images of a step.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/towers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "orrery/frontend/model_graph.h"
#include "orrery/passes/runner.h"

namespace orrery::session {

namespace {

Error refused(const frontend::Model& model, int64_t images, std::string_view need) {
  return make_error(ErrorCode::InvalidInput,
                    "[session.predict] images: got {} for {}, need {}",
                    images,
                    model.name,
                    need);
}

Result<graph::Sizes> bound(const graph::Graph& graph, int64_t batch) {
  const std::vector<plan::Binding> sizes = {{"batch", batch}};
  return graph::Sizes::bind(graph, sizes);
}

/// Rows that one image gives to the text model.
int64_t image_tokens(const graph::Graph& graph, const graph::Sizes& sizes) {
  const graph::Shape& shape = graph[graph.outputs().front()].type.shape;
  return sizes(shape[shape.size() - 2]);
}

/// Tokens of the step's sequences that can be those of images.
int64_t room(const Step& step) {
  if (step.requests.empty()) {
    return step.context;
  }
  int64_t tokens = 0;
  for (const passes::Request& request : step.requests) {
    tokens += request.tokens;
  }
  return tokens;
}

}  // namespace

Bytes tower_weights(const frontend::Model& model) {
  Bytes sum{0.0};
  for (const frontend::Model& tower : model.towers) {
    const auto graph = frontend::model_graph(tower, frontend::Phase::Prefill);
    const auto sizes = graph.ok() ? bound(*graph, 1) : Result<graph::Sizes>(graph.error());
    if (sizes.ok()) {
      sum += plan::memory_of(*graph, *sizes).weights;
    }
  }
  return sum;
}

Result<void> add_towers(const frontend::Model& model,
                        int64_t images,
                        const passes::Context& context,
                        Step& step,
                        plan::Plan& plan) {
  if (model.towers.empty()) {
    return refused(model, images, "a model with a tower of images or sound");
  }
  if (step.phase == frontend::Phase::Decode) {
    return refused(model, images, "--phase prefill or mixed");
  }
  ORR_TRY(const graph::Graph graph,
          frontend::model_graph(model.towers.front(), frontend::Phase::Prefill));
  const int64_t all = images * step.batch;
  ORR_TRY(graph::Sizes sizes, bound(graph, all));
  const int64_t tokens = image_tokens(graph, sizes);
  if (images * tokens > room(step)) {
    return refused(
        model,
        images,
        fmt::format("sequences of at least {} tokens, {} an image", images * tokens, tokens));
  }
  passes::Context own = context;
  own.sizes = std::move(sizes);
  own.requests.clear();
  ORR_TRY(plan::Plan tower, passes::run(graph, own));
  for (plan::Step& each : tower.steps) {
    each.name = "tower." + each.name;
  }
  plan.steps.insert(plan.steps.begin(),
                    std::make_move_iterator(tower.steps.begin()),
                    std::make_move_iterator(tower.steps.end()));
  plan.memory.activations = std::max(plan.memory.activations, tower.memory.activations);
  step.shown.emplace_back("images", all);
  step.shown.emplace_back("tokens_per_image", tokens);
  return {};
}

}  // namespace orrery::session
