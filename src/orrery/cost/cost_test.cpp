// Cost: trips, waves, memory and clock follow their stated formulas, and every profile gets a
// finite positive time.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "orrery/cost/estimate.h"
#include "orrery/cost/memory.h"
#include "orrery/cost/overlap.h"
#include "orrery/cost/trip.h"
#include "orrery/cost/waves.h"
#include "orrery/library/library.h"
#include "orrery/plan/clock.h"
#include "test/support/tree.h"

namespace orrery::cost {
namespace {

machine::Machine h200() {
  return test::machine("h200-sxm");
}

// A kernel of `units` equal units that wait 1000 clocks each and do nothing else.
kernel::Profile waiting(double units, int64_t ctas_per_sm) {
  kernel::Profile profile;
  profile.units = static_cast<int64_t>(units);
  profile.ctas = profile.units;
  profile.ctas_per_sm = ctas_per_sm;
  kernel::ProfilePhase phase;
  phase.name = "wait";
  phase.chain.fixed = Cycles(1000.0);
  profile.kinds.push_back({units, {phase}});
  return profile;
}

// The same, but each unit keeps the issue slots busy for 1000 clocks.
kernel::Profile issuing(double units, int64_t ctas_per_sm) {
  auto profile = waiting(units, ctas_per_sm);
  profile.kinds[0].phases[0].chain = {};
  profile.kinds[0].phases[0].work.issue = Instructions(4000.0);
  return profile;
}

TEST(Overlap, RunsFromSumToMaximum) {
  EXPECT_DOUBLE_EQ(overlapped(3, 4, 1), 7);
  EXPECT_DOUBLE_EQ(overlapped(3, 4, 2), 5);
  EXPECT_NEAR(overlapped(3, 4, 100), 4, 1e-9);
  EXPECT_EQ(overlapped(0, 0, 3), 0);
  EXPECT_EQ(overlapped(0, 4, 3), 4);
  EXPECT_TRUE(std::isfinite(overlapped(1e300, 1e300, 1)));
}

// One group of warps loads and multiplies (chain.turn): its turn adds to what a ring leaves of the
// latency, and its product is not hidden behind loads, but behind another CTA's.
TEST(Trip, TurnsOfOneGroupOfWarpsAreNotHidden) {
  const auto machine = h200();
  const double latency = machine.chip.l2.latency.value();
  kernel::ProfilePhase phase;
  phase.ring = 3;
  phase.chain.memory = 1;
  phase.chain.turn = Cycles(100.0);
  EXPECT_NEAR(trip(phase, machine.chip, {}).cycles, 100 + latency / 2, 1e-6);
  phase.work.tensor = Flops(4096.0 * 1000);
  EXPECT_NEAR(trip(phase, machine.chip, {}).cycles, 1100, 1);
  EXPECT_NEAR(trip(phase, machine.chip, {.residents = 2}).cycles, 2000, 1);
  phase.ring = 2;
  EXPECT_NEAR(trip(phase, machine.chip, {}).cycles, 100 + latency + 1000, 1);
}

// The example of trip.h: 2 * 256 * 128 * 64 / (4096 * 0.97) = 1055.8 clk of tensor work bind.
TEST(Trip, IsAsLongAsItsBusiestPipe) {
  const auto machine = h200();
  kernel::ProfilePhase phase;
  phase.ring = 4;
  phase.work.tensor = Flops(2.0 * 256 * 128 * 64);
  phase.work.tensor_share = 0.97;
  phase.work.shared_read = Bytes(4.0 * (64 + 128) * 64 * 2);
  phase.work.l2_read = Bytes((256.0 / 2 + 128) * 64 * 2);
  const Trip one = trip(phase, machine.chip, {.residents = 1, .pipe_overlap = 1000});
  EXPECT_NEAR(one.cycles, 1055.8, 1);
  EXPECT_EQ(one.limit, Limit::Tensor);
}

// 2 stages hold one load in flight: 4096 B arrive per latency + transfer, whatever the pipes could
// do.
TEST(Trip, ARingBoundsTheRateByItsBytesInFlight) {
  const auto machine = h200();
  kernel::ProfilePhase phase;
  phase.ring = 2;
  phase.work.l2_read = Bytes(4096.0);
  phase.chain.memory = 1;
  const Trip one = trip(phase, machine.chip, {.residents = 1, .pipe_overlap = 1000});
  EXPECT_NEAR(
      one.cycles, machine.chip.l2.latency.value() + 4096 / machine.chip.core.l2_port.value(), 1);
  EXPECT_EQ(one.limit, Limit::InFlight);
  phase.ring = 64;
  EXPECT_NEAR(trip(phase, machine.chip, {.residents = 1, .pipe_overlap = 1000}).cycles, 64, 1);
}

TEST(Trip, ResidentsShareThePipesButNotTheWaiting) {
  const auto machine = h200();
  const TripConditions alone{.residents = 1, .pipe_overlap = 1000};
  const TripConditions four{.residents = 4, .pipe_overlap = 1000};
  const auto wait = waiting(1, 4).kinds[0].phases[0];
  const auto issue = issuing(1, 4).kinds[0].phases[0];
  EXPECT_NEAR(
      trip(wait, machine.chip, four).cycles / trip(wait, machine.chip, alone).cycles, 1, 1e-9);
  EXPECT_NEAR(
      trip(issue, machine.chip, four).cycles / trip(issue, machine.chip, alone).cycles, 4, 1e-9);
}

// 300 units on 132 SMs of 2 slots: the busiest SM has 3, so two together and one alone.
TEST(Waves, TheBusiestSmRunsTwoRounds) {
  const auto machine = h200();
  EXPECT_NEAR(core_time(waiting(300, 2), machine.chip, 0).cycles, 2000, 1e-6);
  EXPECT_NEAR(core_time(waiting(132, 2), machine.chip, 0).cycles, 1000, 1e-6);
  EXPECT_NEAR(core_time(issuing(300, 2), machine.chip, 0).cycles, 3000, 1e-6);
}

TEST(Waves, PersistentCtasTakeUnitsOneAfterTheOther) {
  const auto machine = h200();
  auto profile = waiting(133, 1);
  profile.ctas = 132;
  EXPECT_NEAR(core_time(profile, machine.chip, 0).cycles, 2000, 1e-6);
  EXPECT_EQ(core_time(profile, machine.chip, 0).active_sms, 132);
}

TEST(Waves, ARaggedLaunchEndsWithItsLastKind) {
  const auto machine = h200();
  auto profile = waiting(1320, 1);
  profile.kinds.push_back(profile.kinds[0]);
  profile.kinds[1].phases[0].trips = 3;  // issued last, three times as long
  const double mean = (1320 * 1000.0 + 1320 * 3000.0) / 132;
  EXPECT_NEAR(core_time(profile, machine.chip, 0).cycles, mean + 3000 * 0.95, 1);
}

// Rates that the machine file states: pure reads, pure writes; a copy in between, better than their
// mean.
// `rounds` times: four units of 1000 clocks of issue, then one of 3000; two CTAs fit on an SM.
kernel::Profile in_rounds(double rounds) {
  auto profile = issuing(4 * rounds, 2);
  profile.kinds.push_back(profile.kinds.front());
  profile.kinds[1].count = rounds;
  profile.kinds[1].phases[0].work.issue = Instructions(12000.0);
  profile.rounds = rounds;
  profile.units = static_cast<int64_t>(5 * rounds);
  profile.ctas = profile.units;
  return profile;
}

// 125 CTAs have an SM each. Of 250, CTA i runs beside CTA i + 132, which is two places on in the
// round: a long one beside a short one, 2 * 1000 together and the other 2000 alone.
TEST(Waves, CtasInRoundsShareAnSmWithThoseOneSmCountLater) {
  const auto machine = h200();
  EXPECT_NEAR(core_time(in_rounds(25), machine.chip, 0).cycles, 3000, 1);
  EXPECT_NEAR(core_time(in_rounds(50), machine.chip, 0).cycles, 4000, 1);
}

// 1000 rounds are 7000 clocks each over 132 SMs; the last long unit ends later, but not by more
// than itself.
TEST(Waves, ManyRoundsTakeAnEvenShareAndTheEndOfTheLast) {
  const auto machine = h200();
  const double share = 1000 * 7000.0 / 132;
  const double cycles = core_time(in_rounds(1000), machine.chip, 0).cycles;
  EXPECT_GT(cycles, share + 500);
  EXPECT_LT(cycles, share + 3000);
}

TEST(Memory, MixesReadsAndWrites) {
  const auto machine = h200();
  const auto& dram = machine.chip.dram;
  EXPECT_NEAR(dram_seconds(dram, 1e9, 0) * dram.read.value(), 1e9, 1);
  EXPECT_NEAR(dram_seconds(dram, 0, 1e9) * dram.write.value(), 1e9, 1);
  const double copy = 2e9 / dram_seconds(dram, 1e9, 1e9);
  EXPECT_GT(copy, 2 / (1 / dram.read.value() + 1 / dram.write.value()));
  EXPECT_LT(copy, dram.read.value());
}

TEST(Memory, WarmOperandsNeedNoDramWhileTheyFit) {
  const auto machine = h200();
  kernel::Profile profile;
  const auto dram = [&](double bytes, const plan::Conditions& conditions) {
    profile.traffic.unique_read = profile.traffic.recent_read = profile.traffic.dram_read =
        Bytes(bytes);
    return memory_time(profile, machine.chip, conditions).dram;
  };
  const plan::Conditions cold{};
  const plan::Conditions warm{.activations = plan::CacheState::Warm};
  const plan::Conditions many{.activations = plan::CacheState::Warm, .input_sets = 1000};
  EXPECT_NEAR(dram(1e6, warm) / dram(1e6, cold), 0, 1e-6);
  EXPECT_NEAR(dram(1e9, warm) / dram(1e9, cold), 1, 1e-6);
  EXPECT_NEAR(dram(1e6, many) / dram(1e6, cold), 1, 1e-6);
}

// One SM's port limits its trips (trip.cpp); L2 as a whole does not slow down because few SMs ask.
TEST(Memory, TheWholeOfL2IsThereForFewSms) {
  kernel::Traffic traffic;
  traffic.l2_read = Bytes(6830.0 * 100);
  EXPECT_NEAR(l2_cycles(traffic, h200().chip), 100, 1);
}

// A saturated kernel: 1.61 GHz in burst, some 18 % less steady (gemm_power: 1.15 to 1.23).
TEST(Clock, FallsUnderLoadAndFurtherWhenSustained) {
  const auto machine = h200();
  const auto& clock = machine.chip.clock;
  const auto hertz = [&](plan::ClockState state) {
    return plan::clock_hertz(
        clock, plan::tensor_power(clock, plan::steady_share(clock, state)), 0.95, 0.3);
  };
  EXPECT_EQ(plan::clock_hertz(clock, plan::tensor_power(clock, 1), 0, 1), clock.max.value());
  EXPECT_NEAR(hertz(plan::ClockState::Burst), 1.61e9, 0.03e9);
  EXPECT_NEAR(hertz(plan::ClockState::Burst) / hertz(plan::ClockState::Steady), 1.18, 0.03);
  EXPECT_LT(hertz(plan::ClockState::Mixed), hertz(plan::ClockState::Burst));
  EXPECT_GT(hertz(plan::ClockState::Mixed), hertz(plan::ClockState::Steady));
}

// 370.8 GB at 370.8 GB/s; the blocks work meanwhile, the messages come before.
TEST(ClosedForm, TheLinkWorksBesideTheBlocks) {
  const ClosedForm form(h200());
  auto profile = waiting(132, 1);
  const Duration alone = form.time(profile, {}).time;
  profile.link.sent = Bytes(form.machine().chip.link.achieved.value());
  profile.link.hops = 3;
  profile.link.hop = Duration::from(Seconds(2e-6));
  const auto linked = form.time(profile, {});
  EXPECT_EQ(linked.bound, plan::Bound::Link);
  EXPECT_NEAR(linked.time.seconds().value(),
              1 + 6e-6 + form.machine().chip.launch.graph_gap.seconds().value(),
              1e-9);
  profile.link.sent = Bytes(1.0);
  EXPECT_EQ(form.time(profile, {}).time - alone, Duration::from(Seconds(6e-6)));
}

TEST(ClosedForm, AHostThatLaunchesSlowlyIsSeen) {
  const ClosedForm form(h200());
  auto profile = waiting(1, 1);
  const auto graph = form.time(profile, {});
  profile.host = graph.time / 2;
  EXPECT_EQ(form.time(profile, {}).time, graph.time);
  profile.host = 2 * graph.time;
  const auto stream = form.time(profile, {});
  EXPECT_EQ(stream.time, profile.host);
  EXPECT_EQ(stream.bound, plan::Bound::Launch);
}

// 64 lanes: 640 integer operations take 10 clocks, 640 of fp32 on 128 lanes 5.
TEST(Trip, IntegersHaveHalfTheLanes) {
  const auto machine = h200();
  kernel::ProfilePhase phase;
  phase.work.fma = 640;
  EXPECT_NEAR(trip(phase, machine.chip, {}).cycles, 5, 1e-9);
  phase.work.integer = 640;
  EXPECT_NEAR(trip(phase, machine.chip, {.pipe_overlap = 1000}).cycles, 10, 1e-9);
}

// A million blocks of next to no work start one after the other.
TEST(Waves, ManyShortBlocksAreBoundByTheirStarts) {
  const auto machine = h200();
  auto profile = waiting(1e6, 32);
  profile.kinds[0].phases[0].chain.fixed = Cycles(1.0);
  const CoreTime core = core_time(profile, machine.chip, 0);
  EXPECT_NEAR(core.cycles, 1e6 * machine.chip.launch.block_interval.value(), 1);
  EXPECT_EQ(ClosedForm(machine).time(profile, {}).bound, plan::Bound::Launch);
}

// A loop over 48 copies of 10 MB leaves none of them in L2, but what the kernel before it in the
// same call wrote is one copy.
TEST(Memory, ScratchOfACallStaysInL2) {
  const auto machine = h200();
  kernel::Profile profile;
  profile.traffic.unique_read = Bytes(20e6);
  profile.traffic.dram_read = profile.traffic.unique_read;
  const plan::Conditions loop{.weights = plan::CacheState::Warm, .input_sets = 48};
  const double all = memory_time(profile, machine.chip, loop).dram;
  profile.traffic.scratch_read = Bytes(10e6);
  EXPECT_NEAR(memory_time(profile, machine.chip, loop).dram, all / 2, all * 0.01);
}

// Window of 15 ms and 40 ms: of calls of 10 us the middle lies some ms before the mean drop; six
// calls of 10 ms take 60 ms a replay, so that all timed ones come after the drop; what the chip ran
// before the median replay decides.
TEST(Clock, AWindowOfLongReplaysIsSteady) {
  const auto clock = h200().chip.clock;
  const plan::Window window{.calls = 6,
                            .warm_up = Duration::from(Seconds(15e-3)),
                            .length = Duration::from(Seconds(40e-3))};
  EXPECT_GT(plan::steady_share(clock, window, 10e-6), 0.2);
  EXPECT_LT(plan::steady_share(clock, window, 10e-6), 0.5);
  EXPECT_GT(plan::steady_share(clock, window, 10e-3), 0.99);
  EXPECT_GT(plan::steady_share(clock, window, 1.5e-3), plan::steady_share(clock, window, 10e-6));
}

// 64 lanes: 640 integer operations take 10 clocks, 640 of fp32 on 128 lanes 5.
// A million blocks of next to no work start one after the other.
// A loop over 48 copies of 10 MB leaves none of them in L2, but what the kernel before it in the
// same call wrote is one copy.
TEST(ClosedForm, LaunchesAfterAnotherKernelTakeLonger) {
  const ClosedForm form(h200());
  const auto profile = waiting(1, 1);
  const auto same = form.time(profile, {});
  const auto other = form.time(profile, {.follows_other = true});
  EXPECT_EQ(other.time - same.time, form.machine().chip.launch.graph_gap_other);
  EXPECT_EQ(same.bound, plan::Bound::Launch);
}

TEST(ClosedForm, BracketsItsTimeAndNamesItsTerms) {
  const ClosedForm form(h200());
  auto profile = issuing(100000, 4);
  profile.behaviour.relative_error = 0.25;
  const auto estimate = form.time(profile, {});
  EXPECT_NEAR(estimate.high / estimate.time, 1.25, 1e-6);
  EXPECT_NEAR(estimate.time / estimate.low, 1.25, 1e-6);
  EXPECT_EQ(estimate.bound, plan::Bound::Issue);
  ASSERT_GE(estimate.terms.size(), 2U);
  EXPECT_EQ(estimate.terms[0].name, "launch");
  EXPECT_EQ(estimate.terms[1].name, "core");
}

// More rows, columns or depth never make a known kernel faster.
TEST(ClosedForm, GrowsWithTheWork) {
  const ClosedForm form(h200());
  const library::Library library = test::libraries(test::machine("h200-sxm"));
  Duration before = Duration::zero();
  for (int64_t k = 64; k <= 1 << 20; k *= 2) {
    const library::GemmCall call{.m = 512, .n = 512, .k = k, .kernel = "nvjet_64x64_64x13_1x2_TNT"};
    const auto all = library.candidates(call, form.machine().chip);
    ASSERT_TRUE(all.ok());
    const Duration time = form.time(all->front().front(), {}).time;
    EXPECT_GE(time, before) << k;
    before = time;
  }
}

TEST(ClosedForm, EverySizeGivesAFinitePositiveTime) {
  const ClosedForm form(h200());
  const library::Library library = test::libraries(test::machine("h200-sxm"));
  std::mt19937_64 random(11);
  const auto size = [&] { return int64_t{1} << (random() % 41); };
  for (int i = 0; i < 300; ++i) {
    const std::vector<library::Call> calls = {
        library::GemmCall{
            size(), size(), std::max<int64_t>(8, size()), std::max<int64_t>(8, size())},
        library::AttentionCall{
            size(), 8, 2, size(), size(), 128, i % 2 == 0, DType::BF16, i % 3 == 0 ? "flash" : ""},
        library::RowsCall{
            i % 2 == 0 ? "rms_norm" : "gelu", size(), size(), DType::BF16, i % 3 == 0}};
    for (const auto& call : calls) {
      const auto all = library.candidates(call, form.machine().chip);
      ASSERT_TRUE(all.ok()) << all.error().to_string();
      const auto choice = plan::choose(*all, form, {.follows_other = i % 2 == 0});
      ASSERT_GT(choice.estimate.time, Duration::zero());
      ASSERT_GE(choice.estimate.time, choice.estimate.low);
      ASSERT_GE(choice.estimate.high, choice.estimate.time);
    }
  }
}

// Two candidates that are equally fast: nothing to correct. A far slower one changes nothing
// either.
TEST(Choose, CorrectsOnlyForRivals) {
  const ClosedForm form(h200());
  const std::vector<kernel::Profile> fast{issuing(10000, 4)};
  const std::vector<kernel::Profile> slow{issuing(1000000, 4)};
  std::vector<kernel::Profile> rival{issuing(10500, 4)};
  const Duration alone = plan::choose({fast}, form, {}).estimate.time;
  EXPECT_EQ(alone, form.time(fast[0], {}).time);
  EXPECT_EQ(plan::choose({slow, fast}, form, {}).index, 1U);
  EXPECT_NEAR(plan::choose({slow, fast}, form, {}).estimate.time / alone, 1, 1e-3);
  EXPECT_GT(plan::choose({fast, rival}, form, {}).estimate.time, alone);
}

}  // namespace
}  // namespace orrery::cost
