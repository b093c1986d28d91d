// Fusion: which operators become one kernel, and what it moves.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "orrery/graph/parse.h"
#include "orrery/passes/expand.h"
#include "orrery/passes/runner.h"
#include "orrery/passes/strip.h"

namespace orrery::passes {
namespace {

constexpr std::string_view kLayers = R"(graph "layers"
dim batch
input x: bf16 [batch, 1, 64]
weight g: bf16 [64]
repeat 12 layer
  carry h: bf16 [batch, 1, 64] = x
  weight n: bf16 [64]
  weight w: bf16 [128, 64]
  weight d: bf16 [64, 64]
  a: bf16 [batch, 1, 64] = rms_norm h n epsilon=1e-05
  b: bf16 [batch, 1, 128] = linear a w
  c: bf16 [batch, 1, 64] = slice b axis=2 begin=0 size=64
  e: bf16 [batch, 1, 64] = slice b axis=2 begin=64 size=64
  s: bf16 [batch, 1, 64] = silu c
  m: bf16 [batch, 1, 64] = mul s e
  o: bf16 [batch, 1, 64] = linear m d
  y: bf16 [batch, 1, 64] = add h o
  next h = y
end
z: bf16 [batch, 1, 64] = rms_norm y g epsilon=1e-05
output z
)";

graph::Graph layers() {
  auto graph = graph::parse(kLayers);
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().to_string());
  return *std::move(graph);
}

Result<plan::Plan> planned(plan::Runtime runtime) {
  const graph::Graph graph = layers();
  const std::vector<plan::Binding> batch = {{"batch", 4}};
  const Context context{.sizes = *graph::Sizes::bind(graph, batch), .runtime = runtime};
  return run(graph, context);
}

const library::FusedCall* fused(const plan::Plan& plan, std::string_view name) {
  for (const plan::Step& step : plan.steps) {
    if (step.name == name && std::holds_alternative<library::FusedCall>(step.call)) {
      return &std::get<library::FusedCall>(step.call);
    }
  }
  return nullptr;
}

TEST(Expand, AMiddlePassStandsForAllBetweenFirstAndLast) {
  const auto expanded = expand(layers());
  ASSERT_TRUE(expanded.ok()) << expanded.error().to_string();
  EXPECT_TRUE(expanded->graph.repeats().empty());
  EXPECT_EQ(expanded->times.size(), 3 * 8 + 1U);
  int64_t all = 0;
  for (const int64_t times : expanded->times) {
    all += times;
  }
  EXPECT_EQ(all, 12 * 8 + 1);
}

TEST(Fuse, TheAdditionOfOneLayerAndTheNormOfTheNextAreOneKernel) {
  const auto plan = planned(plan::Runtime::Inductor);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  int64_t joined = 0;
  for (const plan::Step& step : plan->steps) {
    const auto* call = std::get_if<library::FusedCall>(&step.call);
    if (call != nullptr && call->ops == std::vector<std::string>{"add", "rms_norm"}) {
      joined += step.times;
      EXPECT_EQ(call->reductions, 1);
      EXPECT_EQ(call->reads.size(), 3U) << "h, o and the weight";
    }
  }
  EXPECT_EQ(joined, 12) << "eleven between layers, and the last addition with the final norm";
}

TEST(Fuse, HalvesOfAProductAreReadWhereTheyLieAndWrittenOnce) {
  const auto plan = planned(plan::Runtime::Inductor);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  const library::FusedCall* call = fused(*plan, "layer.m");
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->ops, (std::vector<std::string>{"silu", "mul"}));
  ASSERT_EQ(call->reads.size(), 2U);
  EXPECT_EQ(call->reads[0].elements, 4 * 64);
  ASSERT_EQ(call->writes.size(), 1U);
  EXPECT_EQ(call->writes[0].elements, 4 * 64);
}

TEST(Fuse, EqualStepsOfAllPassesStandOnce) {
  const auto plan = planned(plan::Runtime::Inductor);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  for (const plan::Step& step : plan->steps) {
    if (step.name == "layer.b") {
      EXPECT_EQ(step.times, 12);
    }
  }
}

TEST(Fuse, WithoutLimitsOnlyWhatNoNeighbourHoldsIsMoved) {
  const auto plan = planned(plan::Runtime::Fused);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  const library::FusedCall* call = fused(*plan, "layer.m");
  ASSERT_NE(call, nullptr);
  EXPECT_TRUE(call->absorbed);
  EXPECT_TRUE(call->reads.empty()) << "the product before holds both halves in registers";
  EXPECT_TRUE(call->writes.empty()) << "the product after reads the result anyway";
}

TEST(Strip, LeavesTheLayersAlone) {
  const auto graph = strip(layers(), {.outside = true});
  ASSERT_TRUE(graph.ok()) << graph.error().to_string();
  EXPECT_EQ(graph->ops().size(), 8U);
  EXPECT_EQ(graph->repeats()[0].count, 12);
}

}  // namespace
}  // namespace orrery::passes
