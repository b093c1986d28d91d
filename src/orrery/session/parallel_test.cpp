// Steps that GPUs share, in other precisions, with images: what changes and by how much.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orrery/session/session.h"

namespace orrery::session {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const Session& here() {
  static const Session kSession({.home = ORRERY_SOURCE_DIR});
  return kSession;
}

report::ModelPrediction predicted(const ModelRequest& request) {
  const auto prediction = here().predict(request);
  EXPECT_TRUE(prediction.ok()) << prediction.error().to_string();
  return *prediction;
}

std::string refused(const ModelRequest& request) {
  const auto prediction = here().predict(request);
  return prediction.ok() ? "predicted" : prediction.error().message;
}

ModelRequest qwen(int64_t batch) {
  return {.model = "qwen3-30b-a3b", .machine = "h200", .batch = batch};
}

const plan::Step* find(const report::ModelPrediction& prediction, std::string_view end) {
  for (const plan::Step& step : prediction.plan.steps) {
    if (step.name.ends_with(end)) {
      return &step;
    }
  }
  return nullptr;
}

// 8 groups of 8 sequences: each GPU keeps an eighth of the cache, and all experts get all tokens.
TEST(ExpertParallel, GroupsHaveSequencesOfTheirOwnAndExchangeTokens) {
  ModelRequest request = qwen(64);
  const report::ModelPrediction alone = predicted(request);
  request.ep = 8;
  const report::ModelPrediction shared = predicted(request);
  EXPECT_EQ(shared.tokens, 64);
  EXPECT_NEAR(shared.plan.memory.cache / alone.plan.memory.cache, 1.0 / 8, 1e-9);
  ASSERT_NE(find(shared, ".dispatch"), nullptr);
  ASSERT_NE(find(shared, ".combine"), nullptr);
  const auto& experts = std::get<library::MoeCall>(find(shared, ".experts")->call);
  EXPECT_EQ(experts.rows.size(), 128U / 8);
  EXPECT_EQ(find(alone, ".dispatch"), nullptr);
  EXPECT_LT(shared.time.total.time, alone.time.total.time);
}

TEST(ExpertParallel, WithinTensorParallelismAddsUpInstead) {
  ModelRequest request = qwen(64);
  request.tp = 4;
  request.ep = 4;
  const report::ModelPrediction shared = predicted(request);
  EXPECT_EQ(find(shared, ".dispatch"), nullptr);
  EXPECT_NE(find(shared, "mlp_reduced"), nullptr);
}

TEST(ExpertParallel, WaitsForTheBusiestGpu) {
  ModelRequest request = qwen(2048);
  request.ep = 8;
  request.imbalance = 1;
  const Duration even = predicted(request).time.total.time;
  request.imbalance = 8;
  EXPECT_GT(predicted(request).time.total.time, even);
}

TEST(ExpertParallel, SaysWhatDoesNotGoTogether) {
  ModelRequest request = qwen(64);
  request.ep = 16;
  EXPECT_THAT(refused(request), HasSubstr("ep: got 16, need at most the 8 GPUs of a node"));
  request = qwen(64);
  request.imbalance = 17;
  EXPECT_THAT(refused(request), HasSubstr("imbalance: got 17, need 1 to 16"));
  request = qwen(1);
  request.ep = 8;
  request.phase = "mixed";
  request.requests = "8x1@100";
  EXPECT_THAT(refused(request), HasSubstr("mixed: got ep 8 and tp 1, need ep up to tp"));
  request = {.model = "llama-3.1-8b", .machine = "h200", .imbalance = 2};
  EXPECT_THAT(refused(request), HasSubstr("need a model with experts"));
}

TEST(ExpertParallel, TimesTheFullestGroup) {
  ModelRequest request = qwen(60);
  request.ep = 8;
  EXPECT_THAT(predicted(request).time.total.warnings,
              Contains("batch 60 over 8 groups of GPUs: timed with 8 sequences on each"));
}

TEST(Precision, SmallWeightsAndCachesTakeTheirBytes) {
  ModelRequest request = {.model = "llama-3.1-8b", .machine = "h200", .batch = 8};
  const report::ModelPrediction plain = predicted(request);
  request.weights = "fp8";
  request.kv_cache = "fp8";
  const report::ModelPrediction small = predicted(request);
  EXPECT_NEAR(small.plan.memory.cache / plain.plan.memory.cache, 0.5, 1e-9);
  EXPECT_LT(small.plan.memory.weights,
            0.58 * plain.plan.memory.weights);  // head and embedding stay
  EXPECT_LT(small.time.total.time, plain.time.total.time);
}

TEST(Precision, WhatAChipDoesNotMultiplyIsSaid) {
  const ModelRequest request = {.model = "llama-3.1-8b", .machine = "a100", .weights = "fp8"};
  EXPECT_THAT(predicted(request).time.total.warnings,
              Contains(HasSubstr("f8e4m3 activations stay bf16 on this chip")));
}

// 1024 patches an image, four a token.
TEST(Images, AreEncodedBeforeThePrompt) {
  ModelRequest request = {.model = "qwen2.5-vl-7b", .machine = "h200", .phase = "prefill"};
  request.batch = 2;
  request.seq = 1024;
  const report::ModelPrediction text = predicted(request);
  EXPECT_THAT(text.time.total.warnings, Contains(HasSubstr("no images: --images N")));
  request.images = 3;
  const report::ModelPrediction both = predicted(request);
  EXPECT_GT(both.time.total.time, text.time.total.time);
  EXPECT_TRUE(both.plan.steps.front().name.starts_with("tower."));
  EXPECT_THAT(both.sizes, Contains(std::pair<std::string, int64_t>("images", 6)));
  EXPECT_THAT(both.sizes, Contains(std::pair<std::string, int64_t>("tokens_per_image", 256)));
  EXPECT_EQ(both.plan.memory.weights, text.plan.memory.weights);  // loaded in any case
  request.images = 5;
  EXPECT_THAT(refused(request), HasSubstr("need sequences of at least 1280 tokens, 256 an image"));
}

TEST(Images, BelongToPromptsOfModelsThatSee) {
  EXPECT_THAT(refused({.model = "qwen2.5-vl-7b", .machine = "h200", .images = 1}),
              HasSubstr("need --phase prefill or mixed"));
  EXPECT_THAT(
      refused({.model = "llama-3.1-8b", .machine = "h200", .phase = "prefill", .images = 1}),
      HasSubstr("need a model with a tower"));
}

}  // namespace
}  // namespace orrery::session
