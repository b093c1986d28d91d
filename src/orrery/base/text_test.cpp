// Tests of the text tools.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kChips = {"h100", "h200", "b200", "mi300x"};

TEST(SplitLines, AcceptsBothLineEnds) {
  EXPECT_THAT(split_lines("a\r\nb\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split_lines("a\n"), ElementsAre("a"));
  EXPECT_THAT(split_lines(""), IsEmpty());
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split("a,", ','), ElementsAre("a", ""));
}

TEST(Trim, RemovesBlanksAtBothEnds) {
  EXPECT_EQ(trim("  a b\t\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(join(kChips, ", "), "h100, h200, b200, mi300x");
  EXPECT_EQ(join({}, ", "), "");
}

TEST(ToLower, ChangesAsciiOnly) {
  EXPECT_EQ(to_lower("H200-SXM \xC3\x84"), "h200-sxm \xC3\x84");
}

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("gemm", "gemm"), 0u);
}

TEST(EditDistance, CountsASwapOfNeighboursOnce) {
  EXPECT_EQ(edit_distance("gmem", "gemm"), 1u);
}

TEST(ClosestNames, ListsNearestFirstAndIgnoresCase) {
  EXPECT_THAT(closest_names("H20", kChips), ElementsAre("h200"));
  EXPECT_THAT(closest_names("h2000", kChips), ElementsAre("h200", "h100", "b200"));
  EXPECT_THAT(closest_names("h2000", kChips, 1), ElementsAre("h200"));
}

TEST(ClosestNames, ProposesNothingFarAway) {
  EXPECT_THAT(closest_names("tpu", kChips), IsEmpty());
  EXPECT_THAT(closest_names(std::string(1 << 20, 'h'), kChips), IsEmpty());
}

TEST(DidYouMean, ReadsAsTheEndOfAMessage) {
  EXPECT_EQ(did_you_mean("h2o0", kChips), "; did you mean 'h200', 'h100' or 'b200'?");
  EXPECT_EQ(did_you_mean("mi300", kChips), "; did you mean 'mi300x'?");
  EXPECT_EQ(did_you_mean("zzz", kChips), "");
}

TEST(FormatDoubleExact, IsShort) {
  EXPECT_EQ(format_double_exact(0.1), "0.1");
  EXPECT_EQ(format_double_exact(3.0), "3");
  EXPECT_EQ(format_double_exact(1e22), "1e+22");
  EXPECT_EQ(format_double_exact(-0.0), "-0");
}

TEST(FormatDoubleExact, RoundTripsEveryBitPattern) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(random());
    const auto back = parse_double(format_double_exact(value));
    ASSERT_TRUE(back.has_value());
    if (!std::isnan(value)) {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(*back), std::bit_cast<std::uint64_t>(value));
    }
  }
}

TEST(ParseDouble, ReadsDecimalHexAndSpecials) {
  EXPECT_EQ(parse_double("1.5e3"), 1500.0);
  EXPECT_EQ(parse_double("-0x1.8p1"), -3.0);
  EXPECT_EQ(parse_double("+7"), 7.0);
  EXPECT_EQ(parse_double("inf"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(*parse_double("nan")));
}

TEST(ParseDouble, RefusesWhatIsNotWhollyANumber) {
  for (const char* bad : {"", "-", "--1", "+-1", "1x", " 1", "0x", "1e999", "one"}) {
    EXPECT_FALSE(parse_double(bad).has_value()) << bad;
  }
}

TEST(Printable, LeavesTextAndShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("two\nlines\tand \xC3\xA9, \xE2\x82\xAC"),
            "two\nlines\tand \xC3\xA9, \xE2\x82\xAC");
  EXPECT_EQ(printable("\x1b[31mred\r\b\x7f"), "\\x1b[31mred\\x0d\\x08\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\x9b"
            "31m");  // CSI in one letter
  EXPECT_EQ(printable("\x9B"
                      "31m \xE2\x82"),
            "\\x9b"
            "31m \\xe2\\x82");  // no UTF-8
}

}  // namespace
}  // namespace orrery
