// Charts of letters.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/chart.h"

#include <gtest/gtest.h>

#include "orrery/base/text.h"

namespace orrery::report {
namespace {

std::string plain(double value) {
  return std::to_string(static_cast<int>(value));
}

TEST(Chart, PutsTheLeastAtTheLowerLeftAndTheMostAtTheUpperRight) {
  const std::string text = chart({{"", {{1, 1}, {2, 4}}}}, {"x", "y", plain});
  const auto lines = split_lines(text);
  EXPECT_EQ(lines[0], "y");
  EXPECT_EQ(lines[1].size(), 12U + 64U);  // "         4 |" and 64 columns, the last one marked
  EXPECT_EQ(lines[1].back(), 'a');
  EXPECT_EQ(lines[16], "         1 |a");
}

TEST(Chart, WideSpansAreLogarithmicAndSayso) {
  const std::string text = chart({{"", {{1, 1}, {1000, 2}}}}, {"batch", "time", plain});
  EXPECT_NE(text.find("batch, logarithmic"), std::string::npos);
  EXPECT_EQ(text.find("time, logarithmic"), std::string::npos);
}

TEST(Chart, CurvesHaveTheirLettersAndMeetInAStar) {
  const std::string text =
      chart({{"one", {{1, 1}, {2, 2}}}, {"two", {{1, 1}, {2, 4}}}}, {"x", "y", plain});
  EXPECT_NE(text.find("  a one\n  b two\n"), std::string::npos);
  EXPECT_NE(text.find("|*"), std::string::npos);
}

TEST(Chart, OnePointIsNoCurve) {
  EXPECT_EQ(chart({{"", {{1, 1}}}}, {"x", "y", plain}), "");
  EXPECT_EQ(chart({}, {"x", "y", plain}), "");
}

}  // namespace
}  // namespace orrery::report
