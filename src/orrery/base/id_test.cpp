// Tests of typed indices.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/id.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace orrery {
namespace {

struct OpTag;
struct TensorTag;
using OpId = Id<OpTag>;
using TensorId = Id<TensorTag>;

static_assert(!std::is_convertible_v<OpId, TensorId>);
static_assert(!std::is_constructible_v<OpId, TensorId>);
static_assert(!std::is_convertible_v<unsigned, OpId>);

TEST(Id, DefaultIsNone) {
  EXPECT_FALSE(OpId().valid());
  EXPECT_THROW(static_cast<void>(OpId().index()), InternalError);
}

TEST(Id, NamesAnIndex) {
  const OpId id = OpId::from_index(7);
  EXPECT_TRUE(id.valid());
  EXPECT_EQ(id.index(), 7u);
  EXPECT_EQ(id, OpId(7));
}

TEST(Id, RefusesAnIndexThatDoesNotFit) {
  EXPECT_THROW(static_cast<void>(OpId::from_index(0xffffffffULL)), InternalError);
  EXPECT_EQ(OpId::from_index(0xfffffffeULL).value(), 0xfffffffeU);
}

TEST(Id, OrdersAndHashesByValue) {
  EXPECT_LT(OpId(1), OpId(2));
  EXPECT_EQ((std::unordered_set<OpId>{OpId(1), OpId(1), OpId(2)}.size()), 2u);
}

}  // namespace
}  // namespace orrery
