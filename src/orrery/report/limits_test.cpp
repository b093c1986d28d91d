// Rooflines.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/limits.h"

#include <gtest/gtest.h>

namespace orrery::report {
namespace {

Limits limits() {
  Limits limits;
  limits.dram = BytesPerSecond(1e12);
  limits.vector = FlopsPerSecond(1e13);
  limits.tensor = {{DType::BF16, FlopsPerSecond(1e15)}};
  return limits;
}

/// 2 units of 5 trips.
kernel::Profile profile(double tensor_flops, double fma, double read, double recent) {
  kernel::ProfilePhase phase;
  phase.trips = 5;
  phase.work.tensor = Flops(tensor_flops);
  phase.work.fma = fma;
  kernel::Profile profile;
  profile.kinds = {{2, {phase}}};
  profile.traffic.unique_read = Bytes(read);
  profile.traffic.recent_read = Bytes(recent);
  return profile;
}

TEST(Limits, WorkIsCountedOverUnitsAndTrips) {
  const Work work = work_of(profile(7, 3, 100, 40));
  EXPECT_EQ(work.tensor, Flops(70));  // 2 x 5 x 7
  EXPECT_EQ(work.vector, Flops(60));  // 2 x 5 x 3 multiply-adds of 2
  EXPECT_EQ(work.dram, Bytes(60));    // what the kernel before wrote may be in L2
}

TEST(Limits, TheSlowerOfPipesAndMemoryCounts) {
  // 10 x 1e8 FLOP at 1e15 a second are 1 us; 1e6 bytes at 1e12 are 1 us; 5e6 bytes are 5 us.
  EXPECT_EQ(least_time(work_of(profile(1e8, 0, 1e6, 0)), limits()), Duration::picoseconds(1000000));
  EXPECT_EQ(least_time(work_of(profile(1e8, 0, 5e6, 0)), limits()), Duration::picoseconds(5000000));
  // 10 x 1e7 multiply-adds are 2e8 FLOP at 1e13 a second: 20 us.
  EXPECT_EQ(least_time(work_of(profile(1e8, 1e7, 5e6, 0)), limits()),
            Duration::picoseconds(20000000));
}

TEST(Limits, KernelsRunOneAfterTheOther) {
  const std::vector<kernel::Profile> two(2, profile(1e8, 0, 1e6, 0));
  EXPECT_EQ(least_time(two, limits()), Duration::picoseconds(2000000));
}

}  // namespace
}  // namespace orrery::report
