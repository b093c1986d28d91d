// Validation: CSV, fields, scores.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::validate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Csv, ReadsQuotedFields) {
  const auto table = parse_csv(
      "\xEF\xBB\xBF"
      "a,b\r\n1,\"x, \"\"y\"\"\nz\"\r\n\r\n,2",
      "t.csv");
  ASSERT_TRUE(table.ok()) << table.error().to_string();
  EXPECT_THAT(table->header, ElementsAre("a", "b"));
  EXPECT_THAT(table->rows, ElementsAre(ElementsAre("1", "x, \"y\"\nz"), ElementsAre("", "2")));
}

TEST(Csv, WritesWhatItReads) {
  const Table table{{"a", "b,c"}, {{"", "\"q\""}, {"line\nend", "\r"}}};
  EXPECT_EQ(*parse_csv(to_csv(table), "t.csv"), table);
  const Table single{{"a"}, {{""}, {"1"}}};
  EXPECT_EQ(*parse_csv(to_csv(single), "t.csv"), single);
}

TEST(Csv, BadTextNamesTheLine) {
  const auto message = [](std::string_view text) {
    return parse_csv(text, "t.csv").error().message;
  };
  EXPECT_EQ(message("a,b\n1,2\n3\n"),
            "[validate.csv] row: got 1 fields, need 2 as in the header (t.csv:3)");
  EXPECT_EQ(message("a,b\n1,\"2\n3,4\n"),
            "[validate.csv] field: got a quote that never ends, need its end (t.csv:2:3)");
  EXPECT_EQ(message("a\n\"1\n\"2\n"),
            "[validate.csv] field: got text after a closing quote, need a comma (t.csv:3:2)");
  EXPECT_EQ(message(""), "[validate.csv] header: got none, need one (t.csv)");
  EXPECT_THAT(message("a,a\n"), HasSubstr("got column 'a' twice"));
}

TEST(Csv, MoreThanATableMayHaveIsRefused) {
  const auto message = [](const std::string& text) {
    return parse_csv(text, "t.csv").error().message;
  };
  std::string rows = "a\n";
  for (size_t i = 0; i < kMostRows; ++i) {
    rows += "1\n";
  }
  EXPECT_EQ(parse_csv(rows, "t.csv")->rows.size(), kMostRows);
  EXPECT_EQ(message(rows + "1\n"),
            "[validate.csv] rows: got more than 262144 of 1 fields, need at most so many "
            "(t.csv:262146)");
  EXPECT_THAT(message(std::string(20000000, ',')),
              HasSubstr("row: got more than 1024 fields, need at most so many (t.csv:1:"));
  std::string fields = "a0";
  for (size_t i = 1; i < kMostColumns; ++i) {
    fields += ",a" + std::to_string(i);
  }
  fields += '\n';
  const std::string row = std::string(kMostColumns - 1, ',') + '\n';
  for (size_t i = 0; i <= kMostFields / kMostColumns; ++i) {
    fields += row;
  }
  EXPECT_THAT(message(fields), HasSubstr("rows: got more than 4096 of 1024 fields"));
}

TEST(Fields, NumbersOutOfRangeSayWhichColumn) {
  const Table table = *parse_csv("m,n\n-1,99999999999999999999\n", "t.csv");
  const Fields fields(table, 0);
  EXPECT_EQ(fields.size("m").error().message,
            "[validate.fields] m: got '-1', need 1 to 4294967296");
  EXPECT_FALSE(fields.size("n").ok());
  EXPECT_FALSE(fields.size("absent").ok());
}

Compared row(std::string family, int64_t measured, int64_t predicted, int64_t half) {
  return {std::move(family),
          Duration::picoseconds(measured),
          Duration::picoseconds(predicted),
          Duration::picoseconds(predicted - half),
          Duration::picoseconds(predicted + half)};
}

TEST(Scores, PerFamilyAndOverAll) {
  // a: +10 % and -20 %; the interval of half 15 holds the first alone. b: exact.
  const auto all = scores({row("a", 100, 110, 15), row("b", 100, 100, 10), row("a", 100, 80, 15)});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].family, "a");
  EXPECT_NEAR(all[0].mean, 0.15, 1e-12);
  EXPECT_NEAR(all[0].median, 0.15, 1e-12);
  EXPECT_NEAR(all[0].p90, 0.19, 1e-12);  // nine tenths of the way from 0.1 to 0.2
  EXPECT_NEAR(all[0].bias, -0.05, 1e-12);
  EXPECT_NEAR(all[0].hit_rate, 0.5, 1e-12);
  EXPECT_NEAR(all[1].mean, 0, 1e-12);
  EXPECT_EQ(all[2].family, "all");
  EXPECT_EQ(all[2].rows, 3);
}

TEST(Scores, NothingComparedHasNoScore) {
  EXPECT_TRUE(scores({}).empty());
}

}  // namespace
}  // namespace orrery::validate
