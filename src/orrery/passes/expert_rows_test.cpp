// Rows of experts: uniform, skewed, and of the busiest GPU.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/expert_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace orrery::passes {
namespace {

int64_t sum_of(const std::vector<int64_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), int64_t{0});
}

TEST(ExpertRows, SumToAllChoicesAndSpreadAsDrawsDo) {
  for (const int64_t tokens : {1, 3, 32, 1000, 100000}) {
    const std::vector<int64_t> rows = expert_rows({tokens, 128, 8});
    EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), int64_t{0}), tokens * 8) << tokens;
    EXPECT_LE(rows.front(), tokens);
  }
  const std::vector<int64_t> few = expert_rows({32, 128, 8});
  // an expert gets none with chance (15/16)^32 = 12.7 %: some 16 of 128
  EXPECT_NEAR(static_cast<double>(std::count(few.begin(), few.end(), 0)), 16, 3);
}

TEST(SkewedRows, AreAllAlikeWithoutImbalance) {
  const auto rows = skewed_rows({.tokens = 64, .experts = 16, .topk = 2}, 1);
  ASSERT_TRUE(rows.ok()) << rows.error().to_string();
  EXPECT_EQ(*rows, std::vector<int64_t>(16, 8));
}

TEST(SkewedRows, GiveTheBusiestWhatIsAsked) {
  for (const double imbalance : {1.5, 3.0, 8.0}) {
    const auto rows = skewed_rows({.tokens = 10000, .experts = 64, .topk = 4}, imbalance);
    ASSERT_TRUE(rows.ok()) << rows.error().to_string();
    EXPECT_EQ(sum_of(*rows), 40000);
    EXPECT_NEAR(static_cast<double>(rows->front()), imbalance * 40000 / 64, 2);
    EXPECT_TRUE(std::is_sorted(rows->rbegin(), rows->rend()));
  }
}

TEST(SkewedRows, RefuseMoreThanEveryTokenAndLessThanTheMean) {
  EXPECT_THAT(skewed_rows({.tokens = 10, .experts = 64, .topk = 4}, 17).error().message,
              ::testing::HasSubstr("imbalance: got 17, need 1 to 16 (4 of 64 experts a token)"));
  EXPECT_FALSE(skewed_rows({.tokens = 10, .experts = 64, .topk = 4}, 0.5).ok());
}

// Without spread every GPU has its share; all experts on one GPU are all rows.
TEST(BusiestRank, HasItsShareOfEqualRows) {
  EXPECT_EQ(busiest_rank(std::vector<int64_t>(16, 8), 4), std::vector<int64_t>(4, 8));
  EXPECT_EQ(busiest_rank({5, 3, 1}, 1), (std::vector<int64_t>{5, 3, 1}));
}

// 128 experts of 2 rows on average, 16 a GPU: 32 rows in the mean, whose deviation is
// sqrt(16 (1 - 1/8) 1.88) = 5.1; the largest of eight lies 1.53 deviations above (a normal's
// quantile 15/16): some 40.
TEST(BusiestRank, OfAUniformRoutingLiesAboveTheMeanByItsSpread) {
  const std::vector<int64_t> own = busiest_rank(expert_rows({32, 128, 8}), 8);
  EXPECT_EQ(own.size(), 16U);
  EXPECT_NEAR(static_cast<double>(sum_of(own)), 40, 1.5);
  const std::vector<int64_t> many = busiest_rank(expert_rows({100000, 128, 8}), 8);
  EXPECT_NEAR(static_cast<double>(sum_of(many)), 100000, 700);  // the spread falls with the mean
}

TEST(BusiestRank, HoldsTheBusiestExpert) {
  std::vector<int64_t> rows(64, 10);
  rows.front() = 500;
  EXPECT_EQ(sum_of(busiest_rank(rows, 8)), 500 + 7 * 10);
}

}  // namespace
}  // namespace orrery::passes
