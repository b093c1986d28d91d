// Types of quantised products on chips that multiply them, and on others.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/product_types.h"

#include <gtest/gtest.h>

namespace orrery::passes {
namespace {

using graph::Scheme;
using library::Quantisation;

graph::Attributes scheme(Scheme kind, DType activations) {
  return {.scheme = kind, .activations = activations};
}

Context chip(std::string architecture, std::vector<DType> multiplies) {
  Context context{.sizes = {}};
  context.architecture = std::move(architecture);
  context.multiplies = std::move(multiplies);
  return context;
}

const Context kHopper = chip("sm_90a", {DType::BF16, DType::F16, DType::F8E4M3, DType::I8});
const Context kAmpere = chip("sm_80", {DType::BF16, DType::F16, DType::I8});
const Context kBlackwell = chip("sm_100a", {DType::BF16, DType::F8E4M3, DType::F4E2M1});

TEST(ProductTypes, AreTheActivationsWhereTheChipTakesThem) {
  const auto fp8 = scheme(Scheme::Tensor, DType::F8E4M3);
  const ProductTypes types = product_types(fp8, DType::F8E4M3, DType::BF16, kHopper);
  EXPECT_EQ(types.input, DType::F8E4M3);
  EXPECT_EQ(types.quantisation, Quantisation::None);
  EXPECT_FALSE(types.widened);
  const auto block = scheme(Scheme::Block, DType::F8E4M3);
  EXPECT_EQ(product_types(block, DType::F8E4M3, DType::BF16, kHopper).quantisation,
            Quantisation::Block128);
  const auto nv = scheme(Scheme::Nv, DType::F4E2M1);
  EXPECT_EQ(product_types(nv, DType::F4E2M1, DType::BF16, kBlackwell).quantisation,
            Quantisation::Nv);
}

TEST(ProductTypes, KeepOnlyWeightsSmallWhereItDoesNot) {
  const auto fp8 = scheme(Scheme::Tensor, DType::F8E4M3);
  const ProductTypes eight = product_types(fp8, DType::F8E4M3, DType::BF16, kAmpere);
  EXPECT_EQ(eight.input, DType::BF16);
  EXPECT_EQ(eight.quantisation, Quantisation::Int8Weights);
  EXPECT_EQ(eight.backend, "trtllm");
  EXPECT_TRUE(eight.widened);
  const auto nv = scheme(Scheme::Nv, DType::F4E2M1);
  const ProductTypes four = product_types(nv, DType::F4E2M1, DType::BF16, kHopper);
  EXPECT_EQ(four.quantisation, Quantisation::Int4Weights);
  EXPECT_EQ(four.backend, "marlin");
  EXPECT_TRUE(four.widened);
}

TEST(ProductTypes, OfWeightsAloneAreNoLoss) {
  const auto awq = scheme(Scheme::Group, DType::BF16);
  const ProductTypes types = product_types(awq, DType::I4, DType::BF16, kHopper);
  EXPECT_EQ(types.quantisation, Quantisation::Int4Weights);
  EXPECT_FALSE(types.widened);
  // eight bits a weight, whatever the layout of its scales
  EXPECT_EQ(product_types(awq, DType::I8, DType::BF16, kHopper).quantisation,
            Quantisation::Int8Weights);
  EXPECT_EQ(product_types({}, DType::BF16, DType::BF16, kHopper).input, DType::BF16);
}

}  // namespace
}  // namespace orrery::passes
