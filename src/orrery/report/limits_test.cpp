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

/// A call of one kernel that moves so much through DRAM.
plan::StepTime step(const kernel::Profile& kernel, double dram) {
  plan::StepTime step;
  step.kernels = Shared(std::vector<kernel::Profile>{kernel});
  step.once.dram = Bytes(dram);
  step.once.time = Duration::from(Seconds(1));
  return step;
}

TEST(Limits, WorkIsCountedOverUnitsAndTrips) {
  const Work work = work_of(profile(7, 3, 100, 40));
  EXPECT_EQ(work.tensor, Flops(70));  // 2 x 5 x 7
  EXPECT_EQ(work.vector, Flops(60));  // 2 x 5 x 3 multiply-adds of 2
  EXPECT_EQ(work.issued(), Flops(130));
  EXPECT_EQ(work.dram, Bytes(100));
}

TEST(Limits, WhatThePredictionHasInL2NeedsNoDram) {
  const library::Call add = library::RowsCall{.op = "add", .rows = 1, .cols = 1};
  EXPECT_EQ(works_of(add, step(profile(0, 3, 100, 40), 25)).front().dram, Bytes(25));
  // Reads that come again are not needed: every operand once.
  EXPECT_EQ(works_of(add, step(profile(0, 3, 100, 40), 250)).front().dram, Bytes(100));
}

TEST(Limits, OperandsPassThroughL2Once) {
  Limits l2 = limits();
  l2.l2 = BytesPerSecond(2e12);
  kernel::Profile kernel = profile(0, 0, 4e6, 0);
  kernel.traffic.l2_read = Bytes(12e6);  // three times each
  const library::Call copy = library::RowsCall{.op = "copy", .rows = 1, .cols = 1};
  EXPECT_EQ(least_time(copy, step(kernel, 0), l2), Duration::picoseconds(2000000));
}

TEST(Limits, NoCallIsFasterThanItsLimit) {
  const library::Call copy = library::RowsCall{.op = "copy", .rows = 1, .cols = 1};
  plan::StepTime quick = step(profile(0, 0, 4e6, 0), 4e6);  // 4 us by the data sheet
  quick.once.time = Duration::picoseconds(3900000);
  EXPECT_EQ(least_time(copy, quick, limits()), quick.once.time);
}

TEST(Limits, TheCallsArithmeticIsThatOfNoPadding) {
  // 33 rows in a tile of 64: the pipes do 2 x 64 x 10 x 10 = 12800.
  const library::Call gemm = library::GemmCall{.m = 33, .n = 10, .k = 10};
  const Work work = works_of(gemm, step(profile(1280, 0, 100, 40), 100)).front();
  EXPECT_EQ(work.flops, Flops(6600));
  EXPECT_EQ(work.issued(), Flops(12800));
  EXPECT_EQ(least_time(gemm, step(profile(1e8, 0, 0, 0), 0), limits()),
            Duration::from(Seconds(6600 / 1e15)));
}

TEST(Limits, SeveralKernelsShareTheCallsArithmetic) {
  plan::StepTime two = step(profile(30, 0, 0, 0), 0);
  two.kernels = Shared(std::vector<kernel::Profile>{
      profile(30, 0, 0, 0), profile(10, 0, 0, 0), profile(0, 1, 0, 0)});
  two.each = Shared(std::vector<plan::Estimate>(3));
  const auto works = works_of(library::GemmCall{.m = 1, .n = 10, .k = 10}, two);
  EXPECT_EQ(works[0].flops, Flops(150));
  EXPECT_EQ(works[1].flops, Flops(50));
  EXPECT_EQ(works[2].flops, Flops(20));  // its own: it multiplies no matrices
}

TEST(Limits, TheSlowerOfPipesAndMemoryCounts) {
  // 10 x 1e8 FLOP at 1e15 a second are 1 us; 1e6 bytes at 1e12 are 1 us; 5e6 bytes are 5 us.
  EXPECT_EQ(least_time(work_of(profile(1e8, 0, 1e6, 0)), limits()), Duration::picoseconds(1000000));
  EXPECT_EQ(least_time(work_of(profile(1e8, 0, 5e6, 0)), limits()), Duration::picoseconds(5000000));
  // 10 x 1e7 multiply-adds are 2e8 FLOP at 1e13 a second: 20 us.
  EXPECT_EQ(least_time(work_of(profile(1e8, 1e7, 5e6, 0)), limits()),
            Duration::picoseconds(20000000));
}

}  // namespace
}  // namespace orrery::report
