// Memory accounting: residents, living values, and the largest batch that fits.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/plan/memory.h"

#include <gtest/gtest.h>

#include "orrery/graph/parse.h"

namespace orrery::plan {
namespace {

// Per element of batch: x and every result are 64 elements of 2 bytes, the cache 10 of them.
constexpr std::string_view kModel = R"(graph "model"
dim batch
input x: bf16 [batch, 64]
repeat 12 layer
  carry h: bf16 [batch, 64] = x
  weight w: bf16 [64, 64]
  cache c: bf16 [batch, 640]
  a: bf16 [batch, 64] = linear h w
  b: bf16 [batch, 64] = silu a
  v: bf16 [batch, 8, 8] = reshape b shape=[batch, 8, 8]
  f: bf16 [batch, 64] = reshape v shape=[batch, 64]
  y: bf16 [batch, 64] = add h f
  next h = y
end
output y
)";

graph::Graph model() {
  auto graph = graph::parse(kModel);
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().to_string());
  return *std::move(graph);
}

TEST(Memory, WeightsAndCachesOfARepeatExistOncePerPass) {
  const graph::Graph graph = model();
  const std::vector<Binding> batch = {{"batch", 3}};
  const Memory memory = memory_of(graph, *graph::Sizes::bind(graph, batch));
  EXPECT_EQ(memory.weights, Bytes(12 * 64 * 64 * 2));
  EXPECT_EQ(memory.cache, Bytes(12 * 3 * 640 * 2));
}

TEST(Memory, ActivationsAreTheMostThatLiveAtOnce) {
  const graph::Graph graph = model();
  const std::vector<Binding> batch = {{"batch", 3}};
  const Memory memory = memory_of(graph, *graph::Sizes::bind(graph, batch));
  // The input, and then two results at once (a and b, or b and y); views take no memory.
  EXPECT_EQ(memory.activations, 3 * Bytes(3 * 64 * 2));
}

TEST(Memory, LargestExtentJustFits) {
  const graph::Graph graph = model();
  const Bytes weights(12 * 64 * 64 * 2);
  const Bytes each(12 * 640 * 2 + 3 * 64 * 2);
  const auto largest = [&](Bytes capacity) {
    return *largest_extent(graph, {}, "batch", capacity);
  };
  EXPECT_EQ(largest(weights + 1000 * each), 1000);
  EXPECT_EQ(largest(weights + 1000 * each - Bytes(1)), 999);
  EXPECT_EQ(largest(weights), 0) << "not even one sequence";
}

}  // namespace
}  // namespace orrery::plan
