// A model in other types than its file's.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/override_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::frontend {
namespace {

using graph::Scheme;
using ::testing::HasSubstr;

Model small() {
  Model model;
  model.name = "small";
  Layer layer;
  layer.mixer = Attention{.heads = 2, .kv_heads = 2, .head_dim = 64, .value_dim = 64};
  layer.dense = Dense{.width = 256};
  model.stack.groups = {{1, {layer}}};
  return model;
}

const graph::Precision& part(const Model& model, Part part) {
  return model.stack.groups[0].body[0].precision[static_cast<size_t>(part)];
}

TEST(OverridePrecision, QuantisesProductsButNotRouterAndHead) {
  const auto model = override_precision(small(), {.weights = "fp8_block"});
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_EQ(part(*model, Part::Qkv).scheme, Scheme::Block);
  EXPECT_EQ(part(*model, Part::Down).activations, DType::F8E4M3);
  EXPECT_EQ(part(*model, Part::Router).scheme, Scheme::None);
  EXPECT_EQ(part(*model, Part::Head).scheme, Scheme::None);
}

TEST(OverridePrecision, TakesQuantisationAway) {
  const Model fp8 = *override_precision(small(), {.weights = "fp8"});
  const auto plain = override_precision(fp8, {.weights = "fp16"});
  ASSERT_TRUE(plain.ok()) << plain.error().to_string();
  EXPECT_EQ(part(*plain, Part::Qkv).scheme, Scheme::None);
  EXPECT_EQ(plain->dtype, DType::F16);
}

TEST(OverridePrecision, SetsActivationsOfQuantisedWeights) {
  const auto weights_only = override_precision(small(), {.weights = "fp8", .activations = "bf16"});
  ASSERT_TRUE(weights_only.ok()) << weights_only.error().to_string();
  EXPECT_EQ(part(*weights_only, Part::Up).weight, DType::F8E4M3);
  EXPECT_EQ(part(*weights_only, Part::Up).activations, DType::BF16);
  EXPECT_THAT(override_precision(small(), {.activations = "fp8"}).error().message,
              HasSubstr("activations: got fp8 for weights that are not quantised"));
  EXPECT_THAT(
      override_precision(small(), {.weights = "fp8", .activations = "fp16"}).error().message,
      HasSubstr("activations: got fp16, need bf16"));
}

TEST(OverridePrecision, SetsTheCache) {
  EXPECT_EQ(override_precision(small(), {.cache = "fp8"})->cache, DType::F8E4M3);
  EXPECT_THAT(override_precision(small(), {.cache = "int2"}).error().message,
              HasSubstr("kv-cache: got 'int2', need one of bf16, fp16, fp32, fp8"));
  Model encoder = small();
  encoder.decodes = false;
  EXPECT_THAT(override_precision(encoder, {.cache = "fp8"}).error().message,
              HasSubstr("need a model that decodes"));
}

TEST(OverridePrecision, NamesWhatItKnows) {
  EXPECT_THAT(override_precision(small(), {.weights = "fp9"}).error().message,
              HasSubstr("need one of bf16, fp16, fp32, fp8, fp8_channel"));
}

TEST(OverridePrecision, NamesAreCheckedWithoutAModel) {
  EXPECT_TRUE(check_names({}).ok());
  EXPECT_TRUE(check_names({.weights = "int4", .activations = "fp16", .cache = "fp8"}).ok());
  EXPECT_FALSE(check_names({.weights = "fp99"}).ok());
  EXPECT_FALSE(check_names({.activations = "int4"}).ok());
  EXPECT_FALSE(check_names({.cache = "int8"}).ok());
}

}  // namespace
}  // namespace orrery::frontend
