// Triton's tiles: predicted times and their order against a table measured on an H200, and counters
// against those of a profiler.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "orrery/cost/estimate.h"
#include "orrery/validate/ranking.h"
#include "orrery/validate/validate.h"
#include "test/support/tree.h"

namespace orrery::validate {
namespace {

using ::testing::HasSubstr;

Validation validated(const std::string& table, bool given_kernel = false) {
  static const machine::Machine machine = test::machine("h200-sxm");
  static const library::Library library = test::libraries(machine);
  static const cost::ClosedForm estimator(machine);
  auto result = validate_table(
      test::read("test/validation/" + table),
      table,
      {.library = library, .estimator = estimator, .decoders = {}, .given_kernel = given_kernel});
  EXPECT_TRUE(result.ok()) << result.error().to_string();
  return *std::move(result);
}

// 141 rows: three shapes, three kinds, 15 or 16 tiles each.
TEST(TritonTable, TilesAreTimedAndRanked) {
  const Validation validation = validated("triton_gemm_h200.csv");
  EXPECT_EQ(validation.predicted, 141);
  EXPECT_LT(scores(validation.compared).back().mean, 0.125);
  const RankingSum all = sum_up(rankings(validation.compared)).back();
  EXPECT_EQ(all.family, "all");
  EXPECT_EQ(all.choices, 9);
  EXPECT_GT(all.correlation, 0.93);
  EXPECT_GT(all.first, 0.93);
  EXPECT_GT(all.of_five, 0.98);
}

TEST(TritonTable, RowsThatAreNoKernelSaySo) {
  static const machine::Machine machine = test::machine("h200-sxm");
  static const library::Library library = test::libraries(machine);
  static const cost::ClosedForm estimator(machine);
  const auto result =
      validate_table("kind,m,n,k,bm,bn,bk,stages,warps,group_m\nptr,64,64,64,64,64,64,2,3,8\n",
                     "t.csv",
                     {.library = library, .estimator = estimator, .decoders = {}});
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(result->errors.at(0).message, HasSubstr("got 'triton_ptr_64x64x64_2_w3_g8'"));
}

Compared compared(std::string choice, double measured, double predicted) {
  const auto us = [](double value) { return Duration::from(Seconds(value * 1e-6)); };
  return {.family = "f",
          .measured = us(measured),
          .predicted = us(predicted),
          .low = us(predicted),
          .high = us(predicted),
          .row = 0,
          .choice = std::move(choice)};
}

TEST(Ranking, ComparesChoicesAndOrders) {
  const std::vector<Compared> rows = {compared("a", 1, 10),
                                      compared("b", 10, 1),
                                      compared("a", 2, 30),
                                      compared("b", 20, 2),
                                      compared("a", 4, 20),
                                      compared("b", 5, 3),
                                      compared("", 5, 3),
                                      compared("alone", 5, 3)};
  const auto all = rankings(rows);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].choice, "a");
  EXPECT_DOUBLE_EQ(all[0].correlation, 0.5);
  EXPECT_DOUBLE_EQ(all[0].first, 1);
  EXPECT_DOUBLE_EQ(all[1].first, 0.5);
  EXPECT_DOUBLE_EQ(all[1].of_five, 1);
  const auto sums = sum_up(all);
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_DOUBLE_EQ(sums[0].first, std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(sums[0].worst_first, 0.5);
}

TEST(CountersTable, GeometryIsExactWhereTheKernelIsGiven) {
  const Validation validation = validated("counters_h200.csv", true);
  EXPECT_EQ(validation.predicted, 11);
  EXPECT_EQ(validation.counted.size(), 11U * 11U);
  for (const CounterScore& score : counter_scores(validation.counted)) {
    if (score.counter.starts_with("launch__")) {
      EXPECT_EQ(score.equal, score.rows) << score.counter << " " << score.family;
    }
    if (score.counter == "dram__bytes_read.sum") {
      EXPECT_LT(score.median, 0.1) << score.family;
    }
  }
}

}  // namespace
}  // namespace orrery::validate
