// Tests of the stable hash.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

namespace orrery {
namespace {

enum class Kind { A, B };

TEST(Hash, NeverChangesBetweenRunsOrVersions) {
  // Computed by an independent program. Cache keys on disk depend on these numbers: a change here
  // invalidates every cache.
  EXPECT_EQ(hash_bytes(""), 0x7bd3144f29c0cc9eULL);
  EXPECT_EQ(hash_bytes("orrery"), 0xe181d6e50e4a67e3ULL);
}

TEST(Hash, SeparatesStringsByLength) {
  EXPECT_NE(Hasher().add("ab").add("c").digest(), Hasher().add("a").add("bc").digest());
}

TEST(Hash, DependsOnOrder) {
  EXPECT_NE(Hasher().add(1).add(2).digest(), Hasher().add(2).add(1).digest());
}

TEST(Hash, IgnoresTheWidthOfIntegers) {
  EXPECT_EQ(Hasher().add(std::int64_t{-5}).digest(), Hasher().add(std::int16_t{-5}).digest());
  EXPECT_EQ(Hasher().add(Kind::B).digest(), Hasher().add(1).digest());
}

TEST(Hash, TreatsEqualDoublesEqually) {
  EXPECT_EQ(Hasher().add(0.0).digest(), Hasher().add(-0.0).digest());
  EXPECT_NE(Hasher().add(0.5).digest(), Hasher().add(0.25).digest());
}

TEST(Hash, HasNoCollisionAmongShortKeys) {
  std::set<std::uint64_t> seen;
  for (int number = 0; number < 20000; ++number) {
    seen.insert(hash_bytes(std::to_string(number)));
  }
  EXPECT_EQ(seen.size(), 20000u);
}

}  // namespace
}  // namespace orrery
