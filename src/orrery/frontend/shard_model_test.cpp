// One GPU's share of a model, by tensor and by expert parallelism.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/shard_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orrery/frontend/model_graph.h"

namespace orrery::frontend {
namespace {

using ::testing::HasSubstr;

Model experts_of_64() {
  Model model;
  model.name = "experts";
  model.hidden = 256;
  model.input.vocabulary = 1000;
  Layer layer;
  layer.mixer = Attention{.heads = 16, .kv_heads = 4, .head_dim = 32, .value_dim = 32};
  layer.experts = Experts{.count = 64, .topk = 4, .width = 512, .shared_width = 512};
  model.stack.groups = {{2, {layer}}};
  return model;
}

const Experts& experts(const Model& model) {
  return *model.stack.groups[0].body[0].experts;
}

TEST(Shard, CutsEveryExpertWithoutExpertParallelism) {
  const auto shard = frontend::shard(experts_of_64(), {.tp = 8});
  ASSERT_TRUE(shard.ok()) << shard.error().to_string();
  EXPECT_EQ(experts(*shard).count, 64);
  EXPECT_EQ(experts(*shard).width, 64);
  EXPECT_EQ(experts(*shard).sources, 1);
}

TEST(Shard, DealsWholeExpertsToTheSameGpus) {
  const auto shard = frontend::shard(experts_of_64(), {.tp = 8, .ep = 8});
  ASSERT_TRUE(shard.ok()) << shard.error().to_string();
  EXPECT_EQ(experts(*shard).count, 8);
  EXPECT_EQ(experts(*shard).width, 512);
  EXPECT_EQ(experts(*shard).shared_width, 64);
  EXPECT_EQ(experts(*shard).sources, 1);
  EXPECT_TRUE(model_graph(*shard, Phase::Decode).ok());
}

TEST(Shard, CutsExpertsAmongTheGpusLeft) {
  const auto shard = frontend::shard(experts_of_64(), {.tp = 8, .ep = 2});
  ASSERT_TRUE(shard.ok()) << shard.error().to_string();
  EXPECT_EQ(experts(*shard).count, 32);
  EXPECT_EQ(experts(*shard).width, 128);
}

TEST(Shard, GivesGroupsTokensOfTheirOwnBeyondTensorParallelism) {
  const auto shard = frontend::shard(experts_of_64(), {.tp = 2, .ep = 8});
  ASSERT_TRUE(shard.ok()) << shard.error().to_string();
  EXPECT_EQ(experts(*shard).count, 8);
  EXPECT_EQ(experts(*shard).sources, 4);
  EXPECT_EQ(std::get<Attention>(shard->stack.groups[0].body[0].mixer).heads, 8);
  const auto graph = model_graph(*shard, Phase::Decode);
  ASSERT_TRUE(graph.ok()) << graph.error().to_string();
}

TEST(Shard, RefusesWhatDoesNotDivide) {
  EXPECT_THAT(frontend::shard(experts_of_64(), {.tp = 3, .ep = 2}).error().message,
              HasSubstr("tp and ep: got 3 and 2, need one a multiple of the other"));
  EXPECT_THAT(frontend::shard(experts_of_64(), {.ep = 48}).error().message,
              HasSubstr("tp and ep: got 1 and 48 for 64 experts, need a number that divides"));
  EXPECT_THAT(frontend::shard(experts_of_64(), {.ep = 0}).error().message,
              HasSubstr("ep: got 0, need 1 to 64"));
  Model dense = experts_of_64();
  dense.stack.groups[0].body[0].experts.reset();
  dense.stack.groups[0].body[0].dense = Dense{.width = 512};
  EXPECT_THAT(frontend::shard(dense, {.ep = 2}).error().message,
              HasSubstr("ep: got 2 for experts, need 1 (it has no experts)"));
}

}  // namespace
}  // namespace orrery::frontend
