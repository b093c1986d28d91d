// Tests of occupancy: each of the four limits, and what does not fit.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/occupancy.h"

#include <gtest/gtest.h>

namespace orrery::kernel {
namespace {

machine::Core hopper() {
  machine::Core core;
  core.max_threads = 2048;
  core.max_ctas = 32;
  core.registers = 65536;
  core.shared_capacity = Bytes(228 * 1024);
  core.shared_per_cta = Bytes(227 * 1024);
  core.shared_reserved = Bytes(1024);
  return core;
}

TEST(Occupancy, TheScarcestResourceLimits) {
  // 128 x 40 registers 12 times, 20 + 1 KiB 10 times, 128 threads 16 times.
  const Occupancy shared = occupancy({128, 128 * 40, Bytes(20 * 1024)}, hopper());
  EXPECT_EQ(shared.ctas, 10);
  EXPECT_EQ(shared.limit, OccupancyLimit::Shared);
  EXPECT_EQ(occupancy({128, 128 * 128, Bytes(0)}, hopper()).limit, OccupancyLimit::Registers);
  EXPECT_EQ(occupancy({1024, 1024 * 16, Bytes(0)}, hopper()).limit, OccupancyLimit::Threads);
  EXPECT_EQ(occupancy({32, 32 * 16, Bytes(0)}, hopper()).limit, OccupancyLimit::Ctas);
  EXPECT_EQ(occupancy({32, 32 * 16, Bytes(0)}, hopper()).ctas, 32);
}

TEST(Occupancy, ACtaThatDoesNotFitHasNone) {
  EXPECT_EQ(occupancy({128, 0, Bytes(228 * 1024)}, hopper()).ctas, 0);
  EXPECT_EQ(occupancy({4096, 0, Bytes(0)}, hopper()).ctas, 0);
  EXPECT_EQ(occupancy({128, 70000, Bytes(0)}, hopper()).ctas, 0);
}

}  // namespace
}  // namespace orrery::kernel
