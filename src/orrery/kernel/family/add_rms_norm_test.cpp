// Tests of the residual RMS norm family: layouts, refusals, offered configurations.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/family/add_rms_norm.h"

#include <gtest/gtest.h>

#include "orrery/kernel/geometry.h"

namespace orrery::kernel {
namespace {

machine::Chip hopper() {
  machine::Chip chip;
  chip.core.count = 132;
  return chip;
}

TEST(AddRmsNorm, ARowLiesInSixteenByteRunsOfItsWarps) {
  const Program p = add_rms_norm_program({.row_warps = 16, .vectors = 2}).value();
  // 16 warps x 32 lanes x 2 runs x 8 elements.
  EXPECT_EQ(p.axes[1].tile, 8192);
  EXPECT_EQ(p.axes[1].multiple, 8);
  const Digit& run = p.buffers[0].fragment.digits[0];
  EXPECT_EQ(run.place, Place::Register);
  EXPECT_EQ(run.extent, 8);
  EXPECT_EQ(run.stride, 1);
  // One partial sum per warp crosses the CTA through 64 bytes of scratch.
  EXPECT_EQ(shared_plan(p).scratch_bytes, 16 * 4);
}

TEST(AddRmsNorm, ARowPerWarpNeedsNoScratch) {
  const Program p = add_rms_norm_program({.rows = 8, .row_warps = 1, .vectors = 4}).value();
  EXPECT_EQ(shared_plan(p).total, 0);
  EXPECT_EQ(p.axes[0].tile, 8);
}

TEST(AddRmsNorm, UnalignedRowsAreHeldElementByElement) {
  const AddRmsNormConfig config{.row_warps = 4, .vectors = 8, .aligned = false};
  EXPECT_EQ(tile_cols(config), 4 * 32 * 8);
  EXPECT_EQ(add_rms_norm_program(config).value().axes[1].multiple, 1);
}

TEST(AddRmsNorm, LoopedReadsBackWhatItWrote) {
  const Program p = add_rms_norm_program({.vectors = 4, .looped = true}).value();
  EXPECT_EQ(p.axes[1].kind, AxisKind::Loop);
  EXPECT_EQ(p.tensors[3].access, Access::ReadWrite);
  EXPECT_EQ(p.phases.size(), 4U);
}

TEST(AddRmsNorm, RefusesWhatACtaCannotHold) {
  EXPECT_FALSE(add_rms_norm_program({.rows = 8, .row_warps = 8}).ok());  // 2048 threads
  EXPECT_FALSE(add_rms_norm_program({.vectors = 9}).ok());               // 72 elements a thread
  EXPECT_FALSE(add_rms_norm_program({.dtype = DType::I8}).ok());
  EXPECT_FALSE(add_rms_norm_program({.row_warps = 0}).ok());
}

TEST(AddRmsNormConfigs, CoverTheRowWithoutIdleWarps) {
  for (const int64_t cols : {96, 1000, 4096, 8191, 16384}) {
    const auto configs = add_rms_norm_configs(16384, cols, hopper(), {});
    EXPECT_GE(configs.size(), 2U) << cols;
    for (const AddRmsNormConfig& config : configs) {
      if (!config.looped) {
        EXPECT_GE(tile_cols(config), cols);
      }
      EXPECT_EQ(config.aligned, cols % 8 == 0);
    }
  }
}

TEST(AddRmsNormConfigs, TakeAsManyWarpsAsTheRowNeeds) {
  // 5120 columns are exactly 20 warps with one vector, 10 with two, 5 with four.
  bool five = false;
  bool ten = false;
  for (const AddRmsNormConfig& config : add_rms_norm_configs(8192, 5120, hopper(), {})) {
    five = five || (config.row_warps == 5 && config.vectors == 4);
    ten = ten || (config.row_warps == 10 && config.vectors == 2);
  }
  EXPECT_TRUE(five && ten);
}

TEST(AddRmsNormConfigs, LongRowsAreLooped) {
  const auto configs = add_rms_norm_configs(64, 200000, hopper(), {});
  ASSERT_FALSE(configs.empty());
  for (const AddRmsNormConfig& config : configs) {
    EXPECT_TRUE(config.looped);
  }
}

}  // namespace
}  // namespace orrery::kernel
