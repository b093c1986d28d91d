// Residents: CTAs that wait for their own loads overlap only with those resident beside them.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/residents.h"

#include <gtest/gtest.h>

#include <string>

#include "orrery/cost/memory.h"
#include "test/support/tree.h"

namespace orrery::cost {
namespace {

machine::Chip h200() {
  return test::machine("h200-sxm").chip;
}

constexpr double kHertz = 1e9;  // a clock is a nanosecond

// `share` units a SM, each 1000 clocks of issue and `chain` clocks of waiting.
kernel::Profile unit(double share, int64_t residents, double chain) {
  kernel::Profile profile;
  profile.units = static_cast<int64_t>(132 * share);
  profile.ctas = profile.units;
  profile.ctas_per_sm = residents;
  profile.behaviour.residents = true;
  kernel::ProfilePhase phase;
  phase.work.issue = Instructions(4000.0);
  phase.chain.fixed = Cycles(chain);
  profile.kinds.push_back({132 * share, {phase}});
  return profile;
}

double clocks(const kernel::Profile& profile, double memory_clocks) {
  const auto time =
      residents_time(profile, h200(), {.hertz = kHertz, .memory = memory_clocks / kHertz});
  return time.body * kHertz;
}

// Ten units one after the other: 1000 clocks of issue, 800 of memory, 200 of waiting each.
TEST(Residents, ACtaAloneOverlapsNothing) {
  EXPECT_NEAR(clocks(unit(10, 1, 200), 8000), 10 * (1000 + 800 + 200), 1);
}

// 32 residents keep the busier of pipes and memory busy all the time, when it is clearly busier.
TEST(Residents, ManyResidentsHideTheShorterWork) {
  const double time = clocks(unit(320, 32, 0), 0.3 * 320 * 1000);
  EXPECT_GE(time, 320 * 1000);
  EXPECT_LT(time, 1.02 * 320 * 1000);
}

// Equally busy, they meet at the same queue: N / (N + 1) of the rate (two balanced stations).
TEST(Residents, TwoEqualWorksCostACustomerMore) {
  EXPECT_NEAR(clocks(unit(160, 16, 0), 160 * 1000), 160 * 1000 * 17.0 / 16, 200);
}

// Four residents that wait 100,000 clocks each: the rounds follow each other, work is hidden.
TEST(Residents, LongWaitsBindWhateverTheWork) {
  const double time = clocks(unit(8, 4, 100000), 0);
  EXPECT_GT(time, 2 * 100000);
  EXPECT_LT(time, 2 * 104000);
}

// A last unit of its own kind ends later than its neighbours by what it takes longer.
TEST(Residents, ARemainderMayEndLast) {
  auto profile = unit(1, 1, 200);
  const double alone = clocks(profile, 0);
  auto slow = profile.kinds[0];
  slow.count = 1;
  slow.phases[0].chain.fixed = Cycles(5200.0);
  profile.kinds[0].count -= 1;
  profile.kinds.push_back(slow);
  EXPECT_NEAR(clocks(profile, 0), alone + 5000, 1);
}

// What the kernel before has just touched is read from L2, however many sets the loop rotates.
TEST(Memory, ScratchOperandsAreWarm) {
  const auto chip = h200();
  kernel::Profile profile;
  profile.traffic.unique_read = Bytes(8e6);
  profile.traffic.recent_read = Bytes(8e6);
  profile.traffic.dram_read = Bytes(8e6);
  plan::Conditions loop{.weights = plan::CacheState::Warm,
                        .activations = plan::CacheState::Warm,
                        .input_sets = 16,
                        .output_sets = 1};
  EXPECT_NEAR(memory_time(profile, chip, loop).cold_share, 1, 1e-3);
  profile.traffic.recent_read = Bytes(0.0);
  profile.traffic.scratch_read = Bytes(8e6);
  EXPECT_NEAR(memory_time(profile, chip, loop).cold_share, 0, 1e-3);
  EXPECT_NEAR(memory_time(profile, chip, loop).l2_once, 8e6, 1e4);
}

}  // namespace
}  // namespace orrery::cost
