// Operators of a mixed step that run once for prompts and once for decoding sequences.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/packed_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orrery/graph/parse.h"
#include "orrery/passes/runner.h"

namespace orrery::passes {
namespace {

using ::testing::ElementsAre;

TEST(GroupsOf, PutsDecodingSequencesTogetherAndEqualChunks) {
  const std::vector<Request> requests = {{512, 1024}, {1, 100}, {1, 300}, {512, 1024}, {64, 0}};
  EXPECT_THAT(groups_of(requests),
              ElementsAre(SequenceGroup{".decode", 2, 1, 201},
                          SequenceGroup{".chunk", 2, 512, 1536},
                          SequenceGroup{".chunk2", 1, 64, 64}));
}

TEST(GroupsOf, TakesTheMeanOfManyKindsOfChunks) {
  std::vector<Request> requests;
  for (int64_t i = 1; i <= 9; ++i) {
    requests.push_back({10 * i, 0});
  }
  EXPECT_THAT(groups_of(requests), ElementsAre(SequenceGroup{".chunk", 9, 50, 50}));
}

Context mixed(const graph::Graph& graph, std::vector<Request> requests) {
  int64_t tokens = 0;
  for (const Request& request : requests) {
    tokens += request.tokens;
  }
  const std::vector<std::pair<std::string, int64_t>> sizes = {{"batch", 1}, {"seq", tokens}};
  Context context{.sizes = *graph::Sizes::bind(graph, sizes)};
  context.requests = std::move(requests);
  return context;
}

std::vector<std::string> calls_of(const plan::Plan& plan) {
  std::vector<std::string> texts;
  for (const plan::Step& step : plan.steps) {
    texts.push_back(step.name + ": " + library::to_text(step.call));
  }
  return texts;
}

constexpr std::string_view kRecurrence = R"(graph "recurrence"
dim batch
dim seq
input x: bf16 [batch, seq, 64]
weight w: bf16 [64, 4]
cache s: bf16 [batch, 64, 4]
y: bf16 [batch, seq, 64] = causal_conv x w s
output y
)";

TEST(PackedCalls, StepDecodingSequencesApartFromChunks) {
  const graph::Graph graph = *graph::parse(kRecurrence);
  const auto plan = run(graph, mixed(graph, {{1, 9}, {1, 9}, {30, 0}}));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  ASSERT_EQ(plan->steps.size(), 2U);
  const auto& decode = std::get<library::Conv1dCall>(plan->steps[0].call);
  EXPECT_EQ(decode.batch, 2);
  EXPECT_TRUE(decode.step);
  const auto& chunk = std::get<library::Conv1dCall>(plan->steps[1].call);
  EXPECT_EQ(chunk.seq, 30);
  EXPECT_FALSE(chunk.step);
  // three sequences have a state of 64 x 4 numbers each
  EXPECT_EQ(plan->memory.cache, Bytes(3.0 * 64 * 4 * 2));
}

// 4 heads of 16 + 8, a latent of 32 + 8, values of 20.
constexpr std::string_view kLatent = R"(graph "latent"
dim batch
dim seq
input q_nope: bf16 [batch, 4, seq, 16]
input q_rope: bf16 [batch, 4, seq, 8]
input entry: bf16 [batch, seq, 40]
weight to_keys: bf16 [4, 32, 16]
weight to_values: bf16 [4, 20, 32]
low: bf16 [batch, 4, seq, 32] = head_linear q_nope to_keys
q: bf16 [batch, 4, seq, 40] = cat low q_rope axis=3
o: bf16 [batch, 4, seq, 32] = latent_attention q entry size=32 causal=1
wide: bf16 [batch, 4, seq, 20] = head_linear o to_values
output wide
)";

// A chunk of 64 tokens behind 100 attends to keys of 24 numbers made of the latents, the cached
// ones by 4 x (16 + 20) columns; a single token reads the latents.
TEST(PackedCalls, ExpandLatentsForChunksAndAbsorbThemForSingleTokens) {
  const graph::Graph graph = *graph::parse(kLatent);
  const auto plan = run(graph, mixed(graph, {{64, 100}, {1, 200}}));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  const std::vector<std::string> calls = calls_of(*plan);
  EXPECT_THAT(calls,
              ::testing::Contains(::testing::HasSubstr(
                  "o.decode: attention batch=1 heads=1 kv_heads=1 seq_q=4 seq_kv=201 "
                  "head_dim=40")));
  EXPECT_THAT(calls, ::testing::Contains("o.chunk.expand: gemm m=100 n=144 k=32 dtype=bf16"));
  EXPECT_THAT(calls,
              ::testing::Contains(::testing::HasSubstr(
                  "o.chunk: attention batch=1 heads=4 kv_heads=4 seq_q=64 seq_kv=164 "
                  "head_dim=24 causal=1")));
}

}  // namespace
}  // namespace orrery::passes
