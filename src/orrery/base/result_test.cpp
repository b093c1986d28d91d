// Tests of Result, Error and the ORR_TRY macros.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace orrery {
namespace {

Result<int> positive(int number) {
  if (number <= 0) {
    return make_error(ErrorCode::InvalidInput, "[test.positive] got {}, need > 0", number);
  }
  return number;
}

Result<std::string> twice(int number) {
  ORR_TRY(const int checked, positive(number));
  return std::to_string(2 * checked);
}

Result<void> both_positive(int first, int second) {
  ORR_TRY_VOID(positive(first));
  ORR_TRY_VOID(positive(second));
  return {};
}

template <class A, class B>
Result<std::pair<A, B>> make_pair_result(A a, B b) {
  return std::pair<A, B>{a, b};
}

Result<int> sum_of_pair() {
  ORR_TRY(const auto pair, make_pair_result<int, int>(3, 4));
  int sum = 0;
  ORR_TRY(sum, positive(pair.first + pair.second));
  return sum;
}

TEST(Result, HoldsAValue) {
  Result<int> result = positive(3);
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(result.value(), 3);
  EXPECT_EQ(*result, 3);
  EXPECT_THROW(static_cast<void>(result.error()), InternalError);
}

TEST(Result, HoldsAnError) {
  const Result<int> result = positive(-1);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(result.error().message, "[test.positive] got -1, need > 0");
  EXPECT_THROW(static_cast<void>(result.value()), InternalError);
}

TEST(Result, ConvertsWhatConvertsToItsValue) {
  struct Base {
    virtual ~Base() = default;
  };

  struct Derived : Base {};

  const Result<std::string> text = "literal";
  EXPECT_EQ(*text, "literal");
  const Result<std::unique_ptr<Base>> pointer = std::make_unique<Derived>();
  EXPECT_NE(dynamic_cast<Derived*>(pointer->get()), nullptr);
}

TEST(Result, MovesItsValueOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> owned = std::move(result).value();
  EXPECT_EQ(*owned, 5);
}

TEST(Result, ComparesValuesAndErrors) {
  EXPECT_EQ(positive(2), Result<int>(2));
  EXPECT_NE(positive(2), positive(3));
  EXPECT_EQ(positive(0), positive(0));
  EXPECT_NE(positive(0), positive(-1));
  EXPECT_NE(positive(1), positive(-1));
}

TEST(ResultVoid, SucceedsFromEmptyBraces) {
  EXPECT_TRUE(both_positive(1, 2).ok());
  EXPECT_NO_THROW(both_positive(1, 2).value());
}

TEST(ResultVoid, CarriesTheFirstError) {
  EXPECT_EQ(both_positive(1, -2).error().message, "[test.positive] got -2, need > 0");
  EXPECT_EQ(both_positive(-1, -2).error().message, "[test.positive] got -1, need > 0");
  EXPECT_THROW(both_positive(-1, 1).value(), InternalError);
}

TEST(Try, PassesTheValueOn) {
  EXPECT_EQ(*twice(21), "42");
}

TEST(Try, ReturnsTheErrorAcrossResultTypes) {
  EXPECT_EQ(twice(-4).error(), positive(-4).error());
}

TEST(Try, AssignsToAnExistingVariableAndAcceptsCommas) {
  EXPECT_EQ(*sum_of_pair(), 7);
}

TEST(Error, ListsItsNotesInOrder) {
  const Error error = make_error(ErrorCode::NotFound, "[a.b] no '{}'", "x");
  const Error noted = error.with_note("inner").with_note("outer");
  EXPECT_EQ(error.to_string(), "[a.b] no 'x'");
  EXPECT_EQ(noted.to_string(), "[a.b] no 'x'\n  note: inner\n  note: outer");
  EXPECT_EQ(noted.code, ErrorCode::NotFound);
}

TEST(Error, QuotesTheWorldAtSomeLengthOnly) {
  const std::string message =
      make_error(ErrorCode::ParseError, "got '{}'", std::string(99999, 'x')).message;
  EXPECT_LT(message.size(), 17000U);
  EXPECT_TRUE(message.ends_with("xxx... (83621 more bytes)")) << message.substr(16300);
  std::string letters(1, 'x');
  for (int i = 0; i < 9000; ++i) {
    letters += "\xC3\xA9";
  }
  const std::string cut = make_error(ErrorCode::ParseError, "{}", letters).message;
  EXPECT_NE(cut.find("\xC3\xA9... ("), std::string::npos) << "a letter is kept whole";
}

TEST(ErrorCode, HasAName) {
  EXPECT_EQ(to_string(ErrorCode::Infeasible), "Infeasible");
  EXPECT_EQ(to_string(ErrorCode::IoError), "IoError");
}

}  // namespace
}  // namespace orrery
