// Tests of the tokenizer.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace orrery {
namespace {

using testing::ElementsAre;

std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  Scanner scan(text);
  while (!scan.at_end()) {
    tokens.emplace_back(scan.next().text);
  }
  return tokens;
}

std::string message_of(const auto& result) {
  return result.ok() ? "no error" : result.error().message;
}

TEST(Scanner, SplitsWordsNumbersAndPunctuation) {
  EXPECT_THAT(tokens_of("load a.b -> c[0x1F]; x<-y+=2.5e-3*-7"),
              ElementsAre("load",
                          "a.b",
                          "->",
                          "c",
                          "[",
                          "0x1F",
                          "]",
                          ";",
                          "x",
                          "<-",
                          "y",
                          "+=",
                          "2.5e-3",
                          "*",
                          "-",
                          "7"));
}

TEST(Scanner, KeepsShapesAndRangesApart) {
  EXPECT_THAT(tokens_of("128x64"), ElementsAre("128", "x64"));
  EXPECT_THAT(tokens_of("1..4"), ElementsAre("1", ".", ".", "4"));
  EXPECT_THAT(tokens_of("1e 2.x"), ElementsAre("1", "e", "2", ".", "x"));
}

TEST(Scanner, SkipsCommentsAndCountsLines) {
  Scanner scan("// first\n  a // rest\n\tb");
  EXPECT_EQ(scan.position(), (Position{.line = 2, .column = 3}));
  scan.next();
  EXPECT_EQ(scan.position(), (Position{.line = 3, .column = 2}));
  scan.next();
  EXPECT_TRUE(scan.at_end());
  EXPECT_EQ(scan.position(), (Position{.line = 3, .column = 3}));
}

TEST(Scanner, ClassifiesTokens) {
  Scanner scan("a 1 1.5 0x1p2 \"s\" +");
  EXPECT_EQ(scan.next().kind, TokenKind::Identifier);
  EXPECT_EQ(scan.next().kind, TokenKind::Integer);
  EXPECT_EQ(scan.next().kind, TokenKind::Decimal);
  EXPECT_EQ(scan.next().kind, TokenKind::Decimal);
  EXPECT_EQ(scan.next().kind, TokenKind::String);
  EXPECT_EQ(scan.next().kind, TokenKind::Punctuation);
  EXPECT_EQ(scan.next().kind, TokenKind::End);
  EXPECT_EQ(scan.next().kind, TokenKind::End);
}

TEST(Scanner, AcceptsOnlyWhatIsWritten) {
  Scanner scan("a \"b\" b");
  EXPECT_FALSE(scan.accept("b"));
  EXPECT_TRUE(scan.accept("a"));
  EXPECT_FALSE(scan.accept("b")) << "a string is not a word";
  EXPECT_EQ(*scan.expect_string(), "b");
  EXPECT_TRUE(scan.expect("b").ok());
  EXPECT_TRUE(scan.expect_end().ok());
  EXPECT_FALSE(scan.accept(""));
}

TEST(Scanner, ReadsIntegersToTheLastBit) {
  Scanner scan("7 -7 +7 0xff 9223372036854775807 -9223372036854775808");
  EXPECT_EQ(*scan.expect_integer(), 7);
  EXPECT_EQ(*scan.expect_integer(), -7);
  EXPECT_EQ(*scan.expect_integer(), 7);
  EXPECT_EQ(*scan.expect_integer(), 255);
  EXPECT_EQ(*scan.expect_integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(*scan.expect_integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(scan.at_end());
}

TEST(Scanner, ReadsNumbers) {
  Scanner scan("3 -2.5 1e-3 0x1.8p1 -inf nan");
  EXPECT_EQ(*scan.expect_number(), 3.0);
  EXPECT_EQ(*scan.expect_number(), -2.5);
  EXPECT_EQ(*scan.expect_number(), 1e-3);
  EXPECT_EQ(*scan.expect_number(), 3.0);
  EXPECT_EQ(*scan.expect_number(), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(*scan.expect_number()));
}

TEST(Scanner, ReadsEscapes) {
  Scanner scan(R"("a\n\t\"\\b" "")");
  EXPECT_EQ(*scan.expect_string(), "a\n\t\"\\b");
  EXPECT_EQ(*scan.expect_string(), "");
}

TEST(Scanner, SaysWhereAndWhatIsNeeded) {
  Scanner scan("a\n  b", "kernel.parse");
  scan.next();
  EXPECT_EQ(message_of(scan.expect_number()),
            "[kernel.parse] line 2, column 3: got 'b', need a number");
  EXPECT_EQ(message_of(scan.expect("->")), "[kernel.parse] line 2, column 3: got 'b', need '->'");
  EXPECT_EQ(scan.expect_integer().error().code, ErrorCode::ParseError);
  scan.next();
  EXPECT_EQ(message_of(scan.expect_identifier()),
            "[kernel.parse] line 2, column 4: got the end of the text, need a name");
}

TEST(Scanner, TakesNothingOnFailure) {
  Scanner scan("- x 9223372036854775808 1e999 \"\\q\" \"open");
  EXPECT_FALSE(scan.expect_integer().ok());
  EXPECT_TRUE(scan.accept("-"));
  scan.next();
  EXPECT_EQ(
      message_of(scan.expect_integer()),
      "[text.scan] line 1, column 5: got '9223372036854775808', need an integer of at most 64 "
      "bits");
  EXPECT_EQ(*scan.expect_number(), 9223372036854775808.0);
  EXPECT_FALSE(scan.expect_number().ok());
  EXPECT_TRUE(scan.accept("1e999"));
  EXPECT_FALSE(scan.expect_string().ok());
  scan.next();
  EXPECT_EQ(message_of(scan.expect_string()),
            "[text.scan] line 1, column 36: got '\"', need a string in double quotes");
}

TEST(Scanner, SurvivesAnyBytes) {
  std::mt19937 random(11);
  const std::string_view letters =
      "a0x.e\"\\/-<>+=\n \x01\xff"
      "9p_";
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (auto i = random() % 24; i > 0; --i) {
      text += letters[random() % letters.size()];
    }
    std::size_t covered = 0;
    for (const std::string& token : tokens_of(text)) {
      ASSERT_FALSE(token.empty());
      covered += token.size();
    }
    ASSERT_LE(covered, text.size());
  }
}

}  // namespace
}  // namespace orrery
