// Routing of published expert layers: sums, the first GPU's share, balance.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/expert_routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace orrery::validate {
namespace {

int64_t sum(const std::vector<int64_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), int64_t{0});
}

Routed routed(const RoutedLayer& layer) {
  const auto result = route(layer);
  EXPECT_TRUE(result.ok()) << result.error().to_string();
  return *result;
}

// 128 tokens to 8 of 64 experts: 16 rows each; a GPU of eight holds 8 experts and sees every token,
// since 8 experts lie between two choices of a token.
TEST(Routing, BalancedGivesEveryExpertAsMany) {
  const Routed all = routed({128, 64, 8, 1, "balanced"});
  EXPECT_THAT(all.rows, testing::Each(16));
  const Routed share = routed({128, 64, 8, 8, "balanced"});
  EXPECT_EQ(share.rows.size(), 8U);
  EXPECT_EQ(sum(share.rows), 128);
  EXPECT_EQ(share.tokens, 128);
}

TEST(Routing, APowerLawDealsEveryRowAndNoExpertTwiceToAToken) {
  for (const int64_t tokens : {1, 7, 100, 4096}) {
    const Routed all = routed({tokens, 128, 8, 1, "power_law_1.2"});
    EXPECT_EQ(sum(all.rows), tokens * 8);
    EXPECT_LE(*std::max_element(all.rows.begin(), all.rows.end()), tokens);
  }
}

TEST(Routing, TheBusiestGpuIsMeasured) {
  const Routed busiest = routed({4096, 128, 8, 16, "power_law_1.2"});
  EXPECT_EQ(busiest.rows.size(), 8U);
  EXPECT_GT(sum(busiest.rows), 4096 * 8 / 16);
  EXPECT_LE(busiest.tokens, 4096);
}

// Nine tenths of the weights of x^-1.9 on 1 to 1024 are at most 0.1^(-1 / 0.9) = 13: 16 tokens that
// draw 16 of 896 experts each take the heavy ones again and again, where a power law by shares
// spreads its rows.
TEST(Routing, DrawnExpertsMeetAgain) {
  const Routed drawn = routed({16, 896, 16, 1, "power_law_sampled_1.9"});
  const auto met = [](const Routed& all) {
    return std::count_if(all.rows.begin(), all.rows.end(), [](int64_t rows) { return rows > 0; });
  };
  EXPECT_NEAR(static_cast<double>(sum(drawn.rows)), 16 * 16, 32);
  EXPECT_LT(met(drawn), met(routed({16, 896, 16, 1, "power_law_1.9"})));
  EXPECT_NEAR(static_cast<double>(sum(routed({100000, 896, 16, 1, "power_law_sampled_1.9"}).rows)),
              1600000,
              1000);
}

// One token to 8 of 160 experts over 32 GPUs: what rounding leaves over fills the first GPU's five.
TEST(Routing, OldCollectorsFillTheFirstGpu) {
  EXPECT_EQ(sum(routed({1, 160, 8, 32, "power_law_1.2", true}).rows), 5);
  EXPECT_LT(sum(routed({1, 160, 8, 32, "power_law_1.2", false}).rows), 3);
}

TEST(Routing, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(route({1, 8, 2, 1, "uniform"}).ok());
  EXPECT_FALSE(route({1, 8, 2, 1, "power_law_x"}).ok());
  EXPECT_FALSE(route({1, 8, 2, 3, "balanced"}).ok());
  EXPECT_FALSE(route({1, 8, 9, 1, "balanced"}).ok());
}

}  // namespace
}  // namespace orrery::validate
