// Passes: each alone, and the framework's calls of small graphs.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "orrery/graph/parse.h"
#include "orrery/graph/print.h"
#include "orrery/passes/decompose.h"
#include "orrery/passes/expert_rows.h"
#include "orrery/passes/pipeline.h"
#include "orrery/passes/runner.h"

namespace orrery::passes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

graph::Graph parsed(std::string_view text) {
  auto graph = graph::parse(text);
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().to_string());
  return *std::move(graph);
}

Context with(const graph::Graph& graph, std::vector<std::pair<std::string, int64_t>> sizes) {
  auto bound = graph::Sizes::bind(graph, sizes);
  EXPECT_TRUE(bound.ok());
  return {*std::move(bound)};
}

/// "name: call xtimes" of every step.
std::vector<std::string> lines(const plan::Plan& plan) {
  std::vector<std::string> result;
  for (const plan::Step& step : plan.steps) {
    result.push_back(fmt::format("{}: {} x{}", step.name, library::to_text(step.call), step.times));
  }
  return result;
}

constexpr std::string_view kRotary = R"(graph "rotary"
dim batch
dim seq
input qkv: bf16 [batch, seq, 128]
constant cos: bf16 [seq, 16]
constant sin: bf16 [seq, 16]
split: bf16 [batch, seq, 8, 16] = reshape qkv shape=[batch, seq, 8, 16]
by_head: bf16 [batch, 8, seq, 16] = permute split order=[0, 2, 1, 3]
q: bf16 [batch, 4, seq, 16] = slice by_head axis=1 begin=0 size=4
r: bf16 [batch, 4, seq, 16] = rotary q cos sin
output r
)";

TEST(Decompose, RotaryBecomesFiveKernelsAndTwoViews) {
  const graph::Graph before = parsed(kRotary);
  const auto after = decompose(before, with(before, {{"batch", 2}, {"seq", 8}}));
  ASSERT_TRUE(after.ok()) << after.error().to_string();
  EXPECT_THAT(graph::print(*after),
              HasSubstr(R"(r.x1: bf16 [batch, 4, seq, 8] = slice q axis=3 begin=0 size=8
r.x2: bf16 [batch, 4, seq, 8] = slice q axis=3 begin=8 size=8
r.cos: bf16 [batch, 4, seq, 16] = mul q cos
r.neg: bf16 [batch, 4, seq, 8] = neg r.x2
r.cat: bf16 [batch, 4, seq, 16] = cat r.neg r.x1 axis=3
r.sin: bf16 [batch, 4, seq, 16] = mul r.cat sin
r: bf16 [batch, 4, seq, 16] = add r.cos r.sin
output r)"));
}

TEST(LowerFramework, RotaryOfAPrefillIsFiveStridedKernels) {
  const graph::Graph graph = parsed(kRotary);
  const auto plan = run(graph, with(graph, {{"batch", 2}, {"seq", 8}}));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_THAT(lines(*plan),
              ElementsAre("r.cos: mul rows=64 cols=16 dtype=bf16 strided=1 x1",
                          "r.neg: neg rows=64 cols=8 dtype=bf16 strided=1 x1",
                          "r.cat: cat rows=64 cols=16 dtype=bf16 strided=1 x1",
                          "r.sin: mul rows=64 cols=16 dtype=bf16 strided=1 x1",
                          "r: add rows=64 cols=16 dtype=bf16 strided=1 x1"));
}

TEST(LowerFramework, LastAdditionOfADecodeStepUsesVectors) {
  const graph::Graph graph = parsed(kRotary);
  const auto plan = run(graph, with(graph, {{"batch", 2}, {"seq", 1}}));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(lines(*plan).back(), "r: add rows=8 cols=16 dtype=bf16 x1");
}

TEST(LowerFramework, RotaryAloneIsRefused) {
  const graph::Graph graph = parsed(kRotary);
  const auto plan = run(graph, with(graph, {{"batch", 2}, {"seq", 8}}), {.off = {"decompose"}});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().to_string(),
            "[passes.lower_framework] r: got rotary, need it decomposed first\n"
            "  note: in pass lower_framework");
}

TEST(LowerFramework, NormOfTheLastTokenCopiesItFirstIfThereAreSeveralSequences) {
  const graph::Graph graph = parsed(R"(graph "last"
dim batch
input x: bf16 [batch, 8, 64]
weight w: bf16 [64]
last: bf16 [batch, 1, 64] = slice x axis=1 begin=-1 size=1
y: bf16 [batch, 1, 64] = rms_norm last w epsilon=1e-05
output y
)");
  EXPECT_THAT(lines(*run(graph, with(graph, {{"batch", 1}}))),
              ElementsAre("y: rms_norm rows=1 cols=64 dtype=bf16 x1"));
  EXPECT_THAT(lines(*run(graph, with(graph, {{"batch", 3}}))),
              ElementsAre("y.copy: copy rows=3 cols=64 dtype=bf16 strided=1 x1",
                          "y: rms_norm rows=3 cols=64 dtype=bf16 x1"));
}

constexpr std::string_view kWindow = R"(graph "window"
dim context
input q: bf16 [1, 4, 1, 16]
repeat 3 layer
  carry h: bf16 [1, 4, 1, 16] = q
  cache k: bf16 [1, 2, context, 16]
  cache v: bf16 [1, 2, context, 16]
  new: bf16 [1, 2, 1, 16] = slice h axis=1 begin=0 size=2
  keys: bf16 [1, 2, context, 16] = cache_write k new axis=2
  y: bf16 [1, 4, 1, 16] = attention h keys v window=100
  next h = y
end
output y
)";

TEST(FullWindow, WindowThatCoversTheContextIsRemoved) {
  const graph::Graph graph = parsed(kWindow);
  const auto plan = run(graph, with(graph, {{"context", 100}}));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_THAT(lines(*plan),
              ElementsAre("layer.keys: copy rows=2 cols=16 dtype=bf16 strided=1 x3",
                          "layer.y: attention batch=1 heads=4 kv_heads=2 seq_q=1 seq_kv=100 "
                          "head_dim=16 causal=0 dtype=bf16 x3"));
}

TEST(FullWindow, SingleQueryReadsAsManyKeysAsItsWindow) {
  const graph::Graph graph = parsed(kWindow);
  const auto plan = run(graph, with(graph, {{"context", 101}}));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_THAT(lines(*plan)[1], HasSubstr("seq_q=1 seq_kv=100 "));
}

constexpr std::string_view kQuantised = R"(graph "quantised"
dim batch
input x: bf16 [batch, 256]
weight w: f8e4m3 [512, 256]
constant s: f32 [4, 2]
y: bf16 [batch, 512] = linear x w s scheme=block activations=f8e4m3
output y
)";

TEST(Lower, QuantisedProductQuantisesItsActivationsFirst) {
  const graph::Graph graph = parsed(kQuantised);
  const auto plan = run(graph, with(graph, {{"batch", 32}}));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_THAT(lines(*plan),
              ElementsAre("y.quantize: quantize_fp8 rows=32 cols=256 dtype=bf16 x1",
                          "y: gemm m=32 n=512 k=256 dtype=fp8_block x1"));
}

constexpr std::string_view kExperts = R"(graph "experts"
dim batch
input x: bf16 [batch, 64]
weight r: bf16 [8, 64]
weight up: bf16 [8, 256, 64]
weight down: bf16 [8, 64, 128]
l: bf16 [batch, 8] = linear x r
y: bf16 [batch, 64] = moe x l up down size=2 activation=silu
output y
)";

TEST(Lower, ExpertsGetTypicalRows) {
  const graph::Graph graph = parsed(kExperts);
  const auto plan = run(graph, with(graph, {{"batch", 1}}));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  const auto& call = std::get<library::MoeCall>(plan->steps[1].call);
  EXPECT_EQ(call.rows, (std::vector<int64_t>{1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(call.inter, 128);
  EXPECT_TRUE(call.gated);
}

TEST(Runner, TellsWhichPassChangedTheGraph) {
  const graph::Graph graph = parsed(kRotary);
  std::vector<std::string> seen;
  int64_t time = 0;
  const RunOptions options{
      .off = {},
      .clock = [&time] { return time += 5; },
      .watch =
          [&seen](const PassRan& ran) {
            seen.push_back(fmt::format("{} {} {}", ran.name, ran.changed, ran.nanoseconds));
          },
  };
  ASSERT_TRUE(run(graph, with(graph, {{"batch", 2}, {"seq", 8}}), options).ok());
  EXPECT_THAT(seen,
              ElementsAre("mixed_step false 5",
                          "full_window false 5",
                          "decompose true 5",
                          "lower_framework true 5"));
}

TEST(Runner, UnknownNameIsAnError) {
  const graph::Graph graph = parsed(kRotary);
  const auto plan = run(graph, with(graph, {{"batch", 2}, {"seq", 8}}), {.off = {"decompse"}});
  EXPECT_EQ(
      plan.error().message,
      "[passes.runner] pass: got 'decompse', need one of mixed_step, full_window, decompose; did "
      "you mean 'decompose'?");
}

TEST(Pipeline, EveryPassSaysWhy) {
  for (const Pass& pass : all_passes()) {
    EXPECT_FALSE(pass.why.empty()) << pass.name;
  }
}

constexpr std::string_view kWindows = R"(graph "windows"
dim batch
dim seq
input q: bf16 [batch, 4, seq, 16]
constant cos: bf16 [seq, 16]
constant sin: bf16 [seq, 16]
r: bf16 [batch, 4, seq, 16] = rotary q cos sin
r1: bf16 [batch, 4, seq, 16] = silu r
r2: bf16 [batch, 4, seq, 16] = silu r1
r3: bf16 [batch, 4, seq, 16] = silu r2
r4: bf16 [batch, 4, seq, 16] = silu r3
r5: bf16 [batch, 4, seq, 16] = silu r4
near: bf16 [batch, 4, seq, 16] = attention r q r1 causal=1 window=8
far: bf16 [batch, 4, seq, 16] = attention near r2 r3 causal=1 window=16
cut: bf16 [batch, 4, seq, 16] = attention far r4 r5 causal=1 chunk=16
output cut
)";

/// Steps of many kinds.
std::vector<Context> steps(const graph::Graph& graph) {
  std::vector<Context> all;
  for (const plan::Runtime runtime :
       {plan::Runtime::Graph, plan::Runtime::Eager, plan::Runtime::Inductor}) {
    for (const int64_t seq : {1, 8, 9, 16, 17}) {
      for (const int64_t cached : {-1, 0, 7, 20}) {
        Context step = with(graph, {{"batch", 1}, {"seq", seq}});
        step.runtime = runtime;
        if (cached >= 0) {
          step.requests = {{.tokens = seq, .cached = cached}};
        }
        all.push_back(step);
        step.cache = DType::F8E4M3;
        all.push_back(std::move(step));
      }
    }
  }
  return all;
}

TEST(Pipeline, PassesReadWhatTheySay) {
  const graph::Graph graph = parsed(kWindows);
  for (const Pass& pass : all_passes()) {
    std::map<std::string, graph::Graph> made;
    for (const Context& step : steps(graph)) {
      const auto reads = pass.reads(graph, step);
      const auto next = pass.run(graph, step);
      ASSERT_TRUE(next.ok()) << next.error().to_string();
      if (!reads) {
        EXPECT_EQ(*next, graph) << pass.name;
      } else {
        EXPECT_EQ(made.emplace(*reads, *next).first->second, *next) << pass.name << ' ' << *reads;
      }
    }
    EXPECT_FALSE(made.empty()) << pass.name;
  }
}

TEST(Runner, ARunThatKnowsTheGraphMakesTheSamePlan) {
  const graph::Graph graph = parsed(kWindows);
  Rewrites known;
  for (const Context& step : steps(graph)) {
    const auto with = run(graph, step, {.known = &known});
    const auto without = run(graph, step);
    ASSERT_EQ(with.ok(), without.ok());
    if (with.ok()) {
      EXPECT_EQ(*with, *without);
    }
  }
}

// Serving engines have kernels for such a cache, the framework's own have none.
TEST(Lowering, ASmallCacheIsReadByAServingEnginesKernel) {
  constexpr std::string_view kCache = R"(graph "cache"
dim batch
input q: bf16 [batch, 8, 1, 64]
cache k: f8e4m3 [batch, 8, 128, 64]
cache v: f8e4m3 [batch, 8, 128, 64]
o: bf16 [batch, 8, 1, 64] = attention q k v
output o
)";
  const graph::Graph graph = parsed(kCache);
  const auto kernel_on = [&graph](std::string_view architecture) {
    Context context = with(graph, {{"batch", 2}});
    context.architecture = architecture;
    const auto plan = run(graph, context, {});
    EXPECT_TRUE(plan.ok()) << plan.error().to_string();
    EXPECT_THAT(plan->notes, ::testing::IsEmpty());
    return std::get<library::AttentionCall>(plan->steps.back().call);
  };
  EXPECT_EQ(kernel_on("sm_90a").kv_dtype, DType::F8E4M3);
  EXPECT_EQ(kernel_on("sm_90a").backend, "vllm");
  EXPECT_EQ(kernel_on("sm_80").backend, "sglang");
  EXPECT_EQ(kernel_on("gfx942").backend, "");
}

constexpr std::string_view kCausalWindow = R"(graph "window"
dim batch
dim seq
input q: bf16 [batch, 8, seq, 64]
input k: bf16 [batch, 8, seq, 64]
input v: bf16 [batch, 8, seq, 64]
o: bf16 [batch, 8, seq, 64] = attention q k v causal=1 window=1024
output o
)";

TEST(Lowering, AMixedStepPacksOnlyTheKeysThatAWindowReaches) {
  const graph::Graph graph = parsed(kCausalWindow);
  Context context = with(graph, {{"batch", 1}, {"seq", 3}});
  context.requests = {{.tokens = 2, .cached = 100}, {.tokens = 1, .cached = 1023}};
  const auto packed = run(graph, context, {});
  ASSERT_TRUE(packed.ok()) << packed.error().to_string();
  const auto& call = std::get<library::AttentionCall>(packed->steps.back().call);
  EXPECT_EQ(call.lengths, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(call.key_lengths, (std::vector<int64_t>{102, 1024}));
  EXPECT_EQ(call.window, 0);
  context.requests[1].cached = 1024;
  const auto cut = run(graph, context, {});
  ASSERT_TRUE(cut.ok()) << cut.error().to_string();
  const auto& shorter = std::get<library::AttentionCall>(cut->steps.back().call);
  EXPECT_EQ(shorter.key_lengths, (std::vector<int64_t>{102, 1024}));  // 1023 before its own
  EXPECT_EQ(shorter.window, 1023);
}

constexpr std::string_view kChunks = R"(graph "chunks"
dim batch
dim seq
input q: bf16 [batch, 8, seq, 64]
input k: bf16 [batch, 8, seq, 64]
input v: bf16 [batch, 8, seq, 64]
o: bf16 [batch, 8, seq, 64] = attention q k v causal=1 chunk=100
output o
)";

// 150 tokens behind 70: 30 end the first chunk, 100 fill the second, 20 begin the third.
TEST(Lowering, AMixedStepCutsSequencesWhereChunksEnd) {
  const graph::Graph graph = parsed(kChunks);
  Context context = with(graph, {{"batch", 1}, {"seq", 151}});
  context.requests = {{.tokens = 150, .cached = 70}, {.tokens = 1, .cached = 199}};
  const auto plan = run(graph, context, {});
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  const auto& call = std::get<library::AttentionCall>(plan->steps.back().call);
  EXPECT_EQ(call.lengths, (std::vector<int64_t>{30, 100, 20, 1}));
  EXPECT_EQ(call.key_lengths, (std::vector<int64_t>{100, 100, 20, 100}));
}

}  // namespace
}  // namespace orrery::passes
