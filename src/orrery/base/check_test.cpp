// Tests of ORR_CHECK and ORR_UNREACHABLE.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery {
namespace {

using testing::EndsWith;
using testing::StartsWith;

std::string message_of(void (*action)()) {
  try {
    action();
  } catch (const InternalError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

enum class Colour { Red = 7 };

TEST(Check, PassesWithoutEvaluatingItsMessage) {
  int evaluated = 0;
  ORR_CHECK(1 + 1 == 2) << ++evaluated;
  EXPECT_EQ(evaluated, 0);
}

TEST(Check, ThrowsWithConditionAndMessage) {
  const std::string text =
      message_of([] { ORR_CHECK(1 > 2) << "got " << 1 << ", " << 2.5 << " and " << Colour::Red; });
  EXPECT_THAT(text, EndsWith(": check failed: 1 > 2: got 1, 2.5 and 7"));
}

TEST(Check, NamesThePositionFromTheIncludeRoot) {
  EXPECT_THAT(message_of([] { ORR_CHECK(false); }), StartsWith("orrery/base/check_test.cpp:"));
}

TEST(Check, WithoutMessageEndsAfterTheCondition) {
  EXPECT_THAT(message_of([] { ORR_CHECK(false); }), EndsWith(": check failed: false"));
}

TEST(Check, IsOneStatementInAnUnbracedBranch) {
  bool other_branch = false;
  if (false)
    ORR_CHECK(false);
  else
    other_branch = true;
  EXPECT_TRUE(other_branch);
}

TEST(Unreachable, Throws) {
  EXPECT_THAT(message_of([] { ORR_UNREACHABLE(); }), EndsWith("must be unreachable"));
}

}  // namespace
}  // namespace orrery
