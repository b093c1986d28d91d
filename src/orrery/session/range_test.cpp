// Lists and ranges.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/range.h"

#include <gtest/gtest.h>

namespace orrery::session {
namespace {

using Values = std::vector<std::string>;

Values values_of(std::string_view text) {
  return *expand_values("--batch", text, 100);
}

std::string error_of(std::string_view text) {
  const auto values = expand_values("--batch", text, 100);
  return values.ok() ? "" : values.error().message;
}

TEST(Range, BothEndsBelongToIt) {
  EXPECT_EQ(values_of("1..6"), (Values{"1", "2", "3", "4", "5", "6"}));
  EXPECT_EQ(values_of("7..7"), Values{"7"});
}

TEST(Range, StopsBelowTheEndThatItsStepDoesNotMeet) {
  EXPECT_EQ(values_of("0..4096+1024"), (Values{"0", "1024", "2048", "3072", "4096"}));
  EXPECT_EQ(values_of("1..10+4"), (Values{"1", "5", "9"}));
  EXPECT_EQ(values_of("1..100x2"), (Values{"1", "2", "4", "8", "16", "32", "64"}));
}

TEST(Range, FactorsBetweenWholeEndsGiveWholeValuesEachOnce) {
  // 1, 1.5 -> 2, 3, 4.5 -> 5 (4.5 rounds away from 0), 7.5 -> 8
  EXPECT_EQ(values_of("1..8x1.5"), (Values{"1", "2", "3", "5", "8"}));
  EXPECT_EQ(values_of("1..3x1.01"), (Values{"1", "2", "3"}));
}

TEST(Range, DecimalsStayExact) {
  EXPECT_EQ(values_of("0.5..0.9+0.1"), (Values{"0.5", "0.6", "0.7", "0.8", "0.9"}));
}

TEST(Range, ListsMixWordsNumbersAndRanges) {
  EXPECT_EQ(values_of("bf16,fp8"), (Values{"bf16", "fp8"}));
  EXPECT_EQ(values_of("1..3,8..32x2"), (Values{"1", "2", "3", "8", "16", "32"}));
}

TEST(Range, SaysWhatIsWrong) {
  EXPECT_NE(error_of("8..1").find("need a last value that is not below the first"),
            std::string::npos);
  EXPECT_NE(error_of("1..8x1").find("a factor above 1"), std::string::npos);
  EXPECT_NE(error_of("1..8+0").find("a step above 0"), std::string::npos);
  EXPECT_NE(error_of("0..8x2").find("a first value above 0"), std::string::npos);
  EXPECT_NE(error_of("1..b").find("FIRST..LAST in numbers"), std::string::npos);
  EXPECT_NE(error_of("1...3").find("FIRST..LAST in numbers"), std::string::npos);
  EXPECT_NE(error_of("1,,3").find("a value between the commas"), std::string::npos);
  EXPECT_NE(error_of("1,2,1").find("'1' comes twice"), std::string::npos);
  EXPECT_NE(error_of("1..101").find("got more than 100 values"), std::string::npos);
  EXPECT_NE(error_of("1..99999999999999999999").find("FIRST..LAST"), std::string::npos);
}

TEST(Range, OneValueIsNone) {
  EXPECT_FALSE(has_values("32"));
  EXPECT_FALSE(has_values("0.9"));
  EXPECT_TRUE(has_values("1,2"));
  EXPECT_TRUE(has_values("1..2"));
}

}  // namespace
}  // namespace orrery::session
