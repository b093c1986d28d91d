// The device against hand calculations: pipes, rings, roles, caches, counters.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "orrery/device/counters.h"
#include "orrery/device/execution.h"
#include "orrery/device/simulator.h"
#include "orrery/device/tile_cache.h"
#include "orrery/device/timeline.h"
#include "test/support/tree.h"

namespace orrery::device {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

// An H200 with round numbers: blocks start at once, L2 answers after 200 clocks, DRAM after 300
// more and at 1000 bytes a clock.
machine::Chip chip() {
  machine::Chip chip = test::machine("h200-sxm").chip;
  chip.launch.block_interval = Cycles(0.0);
  chip.l2.latency = Cycles(200.0);
  chip.dram.latency = Cycles(300.0);
  chip.dram.read = BytesPerSecond(1e12);
  chip.dram.write = BytesPerSecond(1e12);
  chip.dram.mix = 0;
  return chip;
}

constexpr double kHertz = 1e9;
constexpr double kPort = 64;  // bytes a clock of an SM's port to L2

ProfilePhase tensor_phase(double clocks, double trips) {
  ProfilePhase phase;
  phase.name = "products";
  phase.trips = trips;
  phase.work.tensor = Flops(4096 * clocks);
  return phase;
}

ProfilePhase load_phase(double clocks, double trips, int64_t ring) {
  ProfilePhase phase;
  phase.name = "loads";
  phase.trips = trips;
  phase.ring = ring;
  phase.work.l2_read = Bytes(kPort * clocks);
  phase.chain.memory = 1;
  return phase;
}

Profile launch(double units, std::vector<ProfilePhase> phases) {
  Profile profile;
  profile.kernel = "test";
  profile.threads = 128;
  profile.units = static_cast<int64_t>(units);
  profile.ctas = profile.units;
  double read = 0;
  for (const ProfilePhase& phase : phases) {
    read += units * phase.trips * phase.work.l2_read.value();
  }
  profile.traffic.l2_read = Bytes(read);
  profile.kinds.push_back({units, std::move(phases)});
  return profile;
}

Run run(const Profile& profile, const machine::Chip& on) {
  return execute(profile, on, {}, kHertz);
}

TEST(Execution, TripsOfOneGroupFollowEachOther) {
  EXPECT_DOUBLE_EQ(run(launch(1, {tensor_phase(100, 10)}), chip()).clocks, 1000);
}

TEST(Execution, APartOfATripTakesAPartOfItsTime) {
  EXPECT_DOUBLE_EQ(run(launch(1, {tensor_phase(100, 2.5)}), chip()).clocks, 250);
}

TEST(Execution, GroupsOfOneSmShareItsPipes) {
  Profile two = launch(2 * 132, {tensor_phase(100, 10)});
  two.ctas_per_sm = 2;
  EXPECT_DOUBLE_EQ(run(two, chip()).clocks, 2000);
  Profile waiting = launch(2 * 132, {ProfilePhase{}});
  waiting.kinds[0].phases[0].chain.fixed = Cycles(1000.0);
  waiting.ctas_per_sm = 2;
  EXPECT_DOUBLE_EQ(run(waiting, chip()).clocks, 1000);
}

TEST(Execution, UnitsBeyondTheSlotsRunInWaves) {
  EXPECT_DOUBLE_EQ(run(launch(132, {tensor_phase(100, 1)}), chip()).clocks, 100);
  EXPECT_DOUBLE_EQ(run(launch(133, {tensor_phase(100, 1)}), chip()).clocks, 200);
  Profile persistent = launch(300, {tensor_phase(100, 1)});
  persistent.ctas = 132;
  EXPECT_DOUBLE_EQ(run(persistent, chip()).clocks, 300);
}

// Loads of 100 clocks at the port, 200 of latency. One after the other: 10 * 300. With two in
// flight each trip waits for the load issued when the one before began: 150 a trip. With many the
// port is busy all the time.
TEST(Execution, BytesInFlightBoundTheRateOfLoads) {
  EXPECT_DOUBLE_EQ(run(launch(1, {load_phase(100, 10, 1)}), chip()).clocks, 3000);
  EXPECT_NEAR(run(launch(1, {load_phase(100, 10, 3)}), chip()).clocks, 10 * 150, 151);
  EXPECT_DOUBLE_EQ(run(launch(1, {load_phase(100, 10, 8)}), chip()).clocks, 10 * 100 + 200);
}

TEST(Execution, ColdOperandsWaitForDram) {
  Profile cold = launch(1, {load_phase(100, 10, 1)});
  cold.traffic.dram_read = cold.traffic.unique_read = cold.traffic.l2_read;
  // 6400 bytes a trip at 1000 bytes a clock are hidden behind the port's 100 clocks.
  EXPECT_DOUBLE_EQ(run(cold, chip()).clocks, 10 * (100 + 200 + 300));
  Profile many = launch(132 * 4, {load_phase(100, 10, 1)});
  many.ctas_per_sm = 4;
  many.traffic.dram_read = many.traffic.unique_read = many.traffic.l2_read;
  const double dram = many.traffic.l2_read.value() / 1000;
  EXPECT_NEAR(run(many, chip()).clocks, dram + 500, 0.02 * dram);
}

TEST(Execution, PipesInTurnAddUpWithinAGroupAndOverlapBetweenGroups) {
  ProfilePhase phase = tensor_phase(100, 10);
  phase.work.issue = Instructions(4 * 100.0);
  phase.in_turn = true;
  EXPECT_DOUBLE_EQ(run(launch(1, {phase}), chip()).clocks, 2000);
  Profile two = launch(2 * 132, {phase});
  two.ctas_per_sm = 2;
  EXPECT_DOUBLE_EQ(run(two, chip()).clocks, 2000 + 100);
}

// Cooperative: the producer loads the next unit while this one is computed and stored; ping-pong:
// the other group computes meanwhile.
TEST(Execution, RolesHideFillAndEpilogue) {
  ProfilePhase loop = load_phase(50, 10, 4);
  loop.work.tensor = Flops(4096.0 * 100);
  ProfilePhase epilogue;
  epilogue.name = "epilogue";
  epilogue.chain.fixed = Cycles(400.0);
  Profile profile = launch(4, {loop, epilogue});
  profile.ctas = 1;
  const double fill = 250;
  EXPECT_NEAR(run(profile, chip()).clocks, 4 * (fill + 1000 + 400), 1);
  profile.roles = kernel::Roles::Cooperative;
  EXPECT_NEAR(run(profile, chip()).clocks, fill + 4 * (1000 + 400), 1);
  profile.roles = kernel::Roles::PingPong;
  const double ping_pong = run(profile, chip()).clocks;
  EXPECT_LT(ping_pong, 4 * 1000 + 4 * fill + 400 + 1);
  EXPECT_GE(ping_pong, 4 * 1000 + fill + 400);
}

TEST(Execution, StreamsShareTheWorkOfACtaAndWaitOnTheirOwn) {
  Profile profile = launch(1, {load_phase(100, 10, 1)});
  profile.behaviour.streams = 4;
  // Each stream loads 25 clocks' worth and waits 200; four of them fill the gaps.
  EXPECT_NEAR(run(profile, chip()).clocks, 10 * (100 + 200), 10 * 75 + 1);
  EXPECT_LT(run(profile, chip()).clocks, 10 * (100 + 200));
}

// What is written waits in L2 for DRAM; the launch ends when DRAM has it.
TEST(Execution, EndsWhenTheLastByteIsWritten) {
  ProfilePhase store;
  store.name = "store";
  store.work.l2_write = Bytes(64000.0);
  Profile profile = launch(132, {store});
  profile.traffic.unique_write = profile.traffic.dram_write = Bytes(132 * 64000.0);
  const auto seen = run(profile, chip());
  EXPECT_DOUBLE_EQ(seen.moved.dram_write, 132 * 64000.0);
  EXPECT_NEAR(seen.clocks, 132 * 64000.0 / 1000, 100);
  EXPECT_LT(seen.groups_clocks, seen.clocks / 2);
}

// A GEMM of 4 x 4 tiles in one column of SMs after the other: each tile of A and B comes from DRAM
// once as long as L2 holds what is used again.
TEST(Execution, TilesThatL2HoldsComeFromDramOnce) {
  ProfilePhase loop = load_phase(10, 8, 3);
  Profile profile = launch(16, {loop});
  profile.usable_sms = 1;
  profile.traversal.order.tiles = {4, 4};
  profile.traversal.reads = {{.name = "A", .tile = Bytes(kPort * 5), .axes = {0}, .steps = true},
                             {.name = "B", .tile = Bytes(kPort * 5), .axes = {1}, .steps = true}};
  machine::Chip on = chip();
  const double all = 2 * 4 * 8 * kPort * 5;  // of both operands
  EXPECT_DOUBLE_EQ(run(profile, on).moved.dram_read, all);
  // Room for one column's walk only: B stays for its four rows, A is read again for each column.
  on.l2.effective = Bytes(kPort * 5 * 8 * 2);
  EXPECT_DOUBLE_EQ(run(profile, on).moved.dram_read, all / 2 + 4 * all / 2);
}

TEST(TileCache, TheLeastRecentlyUsedLeaves) {
  TileCache cache(Bytes(30.0), 4);
  EXPECT_EQ(cache.touch(0, 10), TileCache::Found::Never);
  EXPECT_EQ(cache.touch(1, 10), TileCache::Found::Never);
  EXPECT_EQ(cache.touch(2, 10), TileCache::Found::Never);
  EXPECT_EQ(cache.touch(0, 10), TileCache::Found::Held);
  EXPECT_EQ(cache.touch(3, 10), TileCache::Found::Never);  // pushes 1 out
  EXPECT_EQ(cache.touch(0, 10), TileCache::Found::Held);
  EXPECT_EQ(cache.touch(1, 10), TileCache::Found::Evicted);  // pushes 2 out
  EXPECT_EQ(cache.touch(2, 10), TileCache::Found::Evicted);
}

TEST(TileCache, WhatPassesPushesOut) {
  TileCache cache(Bytes(30.0), 2);
  cache.touch(0, 10);
  cache.touch(1, 10);
  cache.pass(10);
  EXPECT_EQ(cache.touch(0, 10), TileCache::Found::Held);
  cache.pass(20);
  EXPECT_EQ(cache.touch(0, 10), TileCache::Found::Held);
  EXPECT_EQ(cache.touch(1, 10), TileCache::Found::Evicted);
}

TEST(Timeline, KeepsItsSumWhileItsWindowsGrow) {
  Timeline timeline;
  for (int i = 0; i < 1000; ++i) {
    timeline.add(i * 700.0, i * 700.0 + 350, 3);
  }
  double sum = 0;
  for (const double part : timeline.sums()) {
    sum += part;
  }
  EXPECT_NEAR(sum, 3000, 1e-6);
  EXPECT_LE(timeline.sums().size(), Timeline::kWindows);
}

TEST(Simulator, CountersSayWhatTheProfileHas) {
  const Simulator simulator(test::machine("h200-sxm"));
  Profile profile = launch(264, {load_phase(100, 10, 4), tensor_phase(50, 20)});
  profile.traffic.dram_read = profile.traffic.l2_read;
  const Simulation seen = simulator.simulate(profile, {});
  std::map<std::string, double> values;
  for (const Counter& counter : counters(seen, profile, simulator.machine().chip)) {
    values[counter.name] = counter.value;
  }
  EXPECT_DOUBLE_EQ(values["launch__grid_size"], 264);
  EXPECT_DOUBLE_EQ(values["dram__bytes_read.sum"], 264 * 10 * 6400.0);
  EXPECT_DOUBLE_EQ(values["lts__t_sectors_op_read.sum"], 264 * 10 * 6400.0 / 32);
  EXPECT_NEAR(values["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"],
              100 * 2 * 20 * 50 / seen.run.clocks,
              1e-9);
}

TEST(Simulator, ABusyChipRunsAtALowerClock) {
  const Simulator simulator(test::machine("h200-sxm"));
  const Simulation busy = simulator.simulate(launch(132, {tensor_phase(1000, 100)}), {});
  const Simulation idle = simulator.simulate(launch(1, {tensor_phase(1000, 100)}), {});
  EXPECT_LT(busy.hertz, 0.85 * simulator.machine().chip.clock.max.value());
  EXPECT_EQ(idle.hertz, simulator.machine().chip.clock.max.value());
  EXPECT_EQ(busy.estimate.bound, plan::Bound::Tensor);
}

}  // namespace
}  // namespace orrery::device
