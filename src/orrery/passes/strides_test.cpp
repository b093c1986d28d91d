// Stride rules: what is a view, what the framework copies, which kernels may use vectors.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/strides.h"

#include <gtest/gtest.h>

#include <array>

namespace orrery::passes {
namespace {

constexpr std::array<int64_t, 4> kSwapMiddle = {0, 2, 1, 3};

/// The first `heads` of 8 heads of 16 in a fused projection, as [batch, heads, tokens, 16].
Strided heads_of_projection(int64_t batch, int64_t tokens, int64_t heads) {
  const Strided split = *reshaped(dense({batch, tokens, 8 * 16}), {batch, tokens, 8, 16});
  return sliced(permuted(split, kSwapMiddle), 1, heads);
}

TEST(Strides, SplittingAndMergingNeighboursIsAView) {
  EXPECT_EQ(*reshaped(dense({6, 128}), {6, 8, 16}), dense({6, 8, 16}));
  EXPECT_EQ(*reshaped(dense({2, 3, 128}), {6, 128}), dense({6, 128}));
}

TEST(Strides, MergingTransposedAxesNeedsACopy) {
  EXPECT_EQ(reshaped(permuted(dense({2, 3, 4, 5}), kSwapMiddle), {2, 4, 15}), std::nullopt);
  // ... but not if one of them has a single entry: [2, 1, 4, 5] swapped is [2, 4, 1, 5].
  EXPECT_NE(reshaped(permuted(dense({2, 1, 4, 5}), kSwapMiddle), {2, 4, 5}), std::nullopt);
}

TEST(Strides, SliceOfOneTokenOfOneSequenceIsDense) {
  EXPECT_TRUE(heads_of_projection(1, 1, 4).dense());
  EXPECT_FALSE(heads_of_projection(1, 2, 4).dense());
  EXPECT_FALSE(heads_of_projection(2, 1, 4).dense());
}

TEST(Pointwise, DenseOperandsUseVectors) {
  const std::array same = {dense({4, 64}), dense({4, 64})};
  EXPECT_TRUE(pointwise_layout(same).vectorized);
  const Strided turned = permuted(dense({2, 3, 4, 5}), kSwapMiddle);
  const std::array turned_alike = {turned, turned};
  EXPECT_TRUE(pointwise_layout(turned_alike).vectorized) << "both walk memory in one order";
}

TEST(Pointwise, BroadcastAndSlicesDoNot) {
  const std::array broadcast = {dense({4, 64}), dense({64})};
  EXPECT_FALSE(pointwise_layout(broadcast).vectorized);
  EXPECT_EQ(pointwise_layout(broadcast).result, dense({4, 64}));
  const std::array half = {sliced(dense({4, 64}), 1, 32)};
  EXPECT_FALSE(pointwise_layout(half).vectorized);
}

TEST(Pointwise, ResultKeepsTheOrderOfTransposedHeads) {
  // q * cos: gapless, but in the order batch, token, head, as the projection wrote it
  const Strided q = heads_of_projection(2, 8, 4);
  const std::array operands = {q, dense({8, 16})};
  const Pointwise kernel = pointwise_layout(operands);
  EXPECT_FALSE(kernel.vectorized);
  EXPECT_EQ(kernel.result.sizes, (std::vector<int64_t>{2, 4, 8, 16}));
  EXPECT_EQ(kernel.result.strides, (std::vector<int64_t>{512, 16, 64, 1}));
}

TEST(Pointwise, DifferentOrdersDoNotUseVectors) {
  const Strided turned = permuted(dense({2, 3, 4, 5}), kSwapMiddle);
  const std::array mixed = {turned, dense(turned.sizes)};
  EXPECT_FALSE(pointwise_layout(mixed).vectorized);
  EXPECT_EQ(pointwise_layout(mixed).result, turned) << "the first operand decides";
}

TEST(Strides, AttentionResultInQueryOrderTransposesBackForFree) {
  const Strided q = heads_of_projection(2, 8, 4);
  const Strided by_token = permuted(in_order_of(q), kSwapMiddle);
  EXPECT_TRUE(by_token.dense());
  EXPECT_NE(reshaped(by_token, {2, 8, 64}), std::nullopt);
}

}  // namespace
}  // namespace orrery::passes
