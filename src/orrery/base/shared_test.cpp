// Shared values.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/shared.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace orrery {
namespace {

TEST(Shared, CopiesAreTheSameValue) {
  const Shared<std::vector<int>> one(std::vector<int>{1, 2});
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the copy is what is tested
  const Shared<std::vector<int>> other = one;
  EXPECT_EQ(*other, (std::vector<int>{1, 2}));
  EXPECT_EQ(one->data(), other->data());
}

TEST(Shared, WithoutAValueIsAnEmptyOne) {
  EXPECT_TRUE(Shared<std::string>()->empty());
  Shared<std::string> from("long enough to be no small string");
  const Shared<std::string> to = std::move(from);
  EXPECT_EQ(to->size(), 33U);
  EXPECT_TRUE(from->empty());  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace orrery
