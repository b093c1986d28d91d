// Memory accounting: residents, living values, and the largest batch that fits.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/plan/memory.h"

#include <fmt/format.h>
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

// Engines keep the newest keys of a window, and all of those that some attention sees whole.
TEST(Memory, AWindowKeepsNoMoreKeysThanItSees) {
  const auto bytes = [](std::string_view attentions, int64_t length) {
    const auto graph = graph::parse(fmt::format(R"(graph "model"
dim len
input q: bf16 [1, 4, 1, 16]
cache k: bf16 [1, 4, len, 16]
cache v: bf16 [1, 4, len, 16]
{}
output y
)",
                                                attentions));
    EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().to_string());
    const std::vector<Binding> sizes = {{"len", length}};
    return memory_of(*graph, *graph::Sizes::bind(*graph, sizes)).cache;
  };
  constexpr std::string_view kWindow = "y: bf16 [1, 4, 1, 16] = attention q k v window=100";
  constexpr std::string_view kAll = "y: bf16 [1, 4, 1, 16] = attention q k v";
  constexpr std::string_view kBoth =
      "x: bf16 [1, 4, 1, 16] = attention q k v window=100\n"
      "y: bf16 [1, 4, 1, 16] = attention x k v";
  const Bytes token(2 * 4 * 16 * 2);
  EXPECT_EQ(bytes(kWindow, 60), 60 * token);
  EXPECT_EQ(bytes(kWindow, 4000), 100 * token);
  EXPECT_EQ(bytes(kAll, 4000), 4000 * token);
  EXPECT_EQ(bytes(kBoth, 4000), 4000 * token);
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
