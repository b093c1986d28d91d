// Tests of run-time extents: found by name, kept sorted.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/program.h"

#include <gtest/gtest.h>

namespace orrery::kernel {
namespace {

TEST(Extents, FindsWhatWasSetAndNothingElse) {
  Extents extents;
  extents.set("n", 2);
  extents.set("m", 1);
  extents.set("n", 3);
  EXPECT_EQ(extents.find("m"), 1);
  EXPECT_EQ(extents.find("n"), 3);
  EXPECT_EQ(extents.find("k"), std::nullopt);
}

TEST(Extents, TheOrderOfSettingDoesNotMatter) {
  Extents x;
  x.set("a", 1);
  x.set("b", 2);
  Extents y;
  y.set("b", 2);
  y.set("a", 1);
  EXPECT_EQ(x, y);
}

TEST(Target, HasTheNameOfItsInstructionSet) {
  EXPECT_EQ(name(Target::Sm90a), "sm_90a");
  EXPECT_EQ(name(Target::Gfx942), "gfx942");
}

}  // namespace
}  // namespace orrery::kernel
