// Tests of instruction layouts: the manuals' formulas, coverage, chained products, refusals.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/mma_layout.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery::kernel {
namespace {

const AxisId kM{0};
const AxisId kN{1};
const AxisId kK{2};
constexpr MmaShape kMfma32{32, 32, 8};
constexpr MmaShape kMfma16{16, 16, 16};

Digit digit(Place place, int64_t extent, AxisId axis, int64_t stride) {
  return {place, extent, axis, stride};
}

TEST(MmaAccumulator, WgmmaOfTwoWarpgroupsAsInTheProgramExample) {
  const auto layout =
      mma_accumulator_layout(Target::Sm90a, {64, 256, 16}, {kM, 128, 8}, {kN, 256, 1});
  EXPECT_EQ(layout.value(),
            (FragmentLayout{{digit(Place::Register, 2, kN, 1),
                             digit(Place::Register, 2, kM, 8),
                             digit(Place::Register, 32, kN, 8),
                             digit(Place::Lane, 4, kN, 2),
                             digit(Place::Lane, 8, kM, 1),
                             digit(Place::Warp, 4, kM, 16),
                             digit(Place::Warp, 2, kM, 64)}}));
}

TEST(MmaAccumulator, WgmmaDoesNotDependOnTheInstructionsWidth) {
  const MmaSide rows{kM, 128, 4};
  const MmaSide columns{kN, 256, 1};
  EXPECT_EQ(mma_accumulator_layout(Target::Sm90a, {64, 64, 16}, rows, columns).value(),
            mma_accumulator_layout(Target::Sm90a, {64, 256, 16}, rows, columns).value());
}

TEST(MmaAccumulator, Mfma32MatchesTheManual) {
  // MI300 ISA, V_MFMA_F32_32X32X8: column = lane % 32, row = 8 (i / 4) + 4 (lane / 32) + i % 4.
  const auto layout =
      mma_accumulator_layout(Target::Gfx942, kMfma32, {kM, 32, 1}, {kN, 32, 1}).value();
  for (int64_t i = 0; i < 16; ++i) {
    for (int64_t l = 0; l < 64; ++l) {
      ASSERT_EQ(layout.offset(kM, {i, l, 0}), 8 * (i / 4) + 4 * (l / 32) + i % 4);
      ASSERT_EQ(layout.offset(kN, {i, l, 0}), l % 32);
    }
  }
}

TEST(MmaAccumulator, Mfma16MatchesTheManual) {
  // MI300 ISA, V_MFMA_F32_16X16X16: column = lane % 16, row = 4 (lane / 16) + i.
  const auto layout =
      mma_accumulator_layout(Target::Gfx942, kMfma16, {kM, 16, 1}, {kN, 16, 1}).value();
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t l = 0; l < 64; ++l) {
      ASSERT_EQ(layout.offset(kM, {i, l, 0}), 4 * (l / 16) + i);
      ASSERT_EQ(layout.offset(kN, {i, l, 0}), l % 16);
    }
  }
}

TEST(MmaAccumulator, CoversEveryTileItAccepts) {
  for (const int64_t row_warps : {1, 2, 4, 8}) {
    for (const int64_t column_warps : {1, 2, 3}) {
      for (const int64_t rows : {32, 64, 128, 256}) {
        for (const int64_t columns : {24, 32, 96, 192}) {
          for (const auto& [target, shape] : {std::pair(Target::Sm90a, MmaShape{64, 8, 16}),
                                              std::pair(Target::Gfx942, kMfma32),
                                              std::pair(Target::Gfx942, kMfma16)}) {
            const auto layout = mma_accumulator_layout(
                target, shape, {kM, rows, row_warps}, {kN, columns, column_warps});
            if (!layout.ok()) continue;
            EXPECT_TRUE(covers(*layout, {{kM, rows}, {kN, columns}}));
            EXPECT_EQ(layout->count(Place::Warp), row_warps * column_warps);
            EXPECT_EQ(layout->count(Place::Lane), target == Target::Sm90a ? 32 : 64);
          }
        }
      }
    }
  }
}

TEST(MmaFirstOperand, WgmmaMatchesThePtxFormula) {
  // PTX ISA, wgmma fragment A of m64nNk16: row = 16 warp + lane / 4 + 8 (i / 2 % 2),
  // k = 8 (i / 4) + 2 (lane % 4) + i % 2.
  const auto layout =
      mma_first_operand_layout(Target::Sm90a, {64, 8, 16}, {kM, 64, 4}, {kK, 16, 1}, 1).value();
  EXPECT_EQ(layout.count(Place::Register), 8);
  for (int64_t i = 0; i < 8; ++i) {
    for (int64_t l = 0; l < 32; ++l) {
      ASSERT_EQ(layout.offset(kM, {i, l, 2}), 32 + l / 4 + 8 * (i / 2 % 2));
      ASSERT_EQ(layout.offset(kK, {i, l, 2}), 8 * (i / 4) + 2 * (l % 4) + i % 2);
    }
  }
}

TEST(MmaFirstOperand, MfmaMatchesTheManual) {
  // MI300 ISA: A has row = lane % m, k = 4 (lane / m) + i, for both shapes.
  for (const MmaShape shape : {kMfma32, kMfma16}) {
    const auto layout =
        mma_first_operand_layout(Target::Gfx942, shape, {kM, shape.m, 1}, {kK, shape.k, 1}, 1)
            .value();
    EXPECT_EQ(layout.count(Place::Register), 4);
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t l = 0; l < 64; ++l) {
        ASSERT_EQ(layout.offset(kM, {i, l, 0}), l % shape.m);
        ASSERT_EQ(layout.offset(kK, {i, l, 0}), 4 * (l / shape.m) + i);
      }
    }
  }
}

TEST(MmaFirstOperand, WarpsAlongTheColumnsHoldCopies) {
  const auto layout =
      mma_first_operand_layout(Target::Gfx942, kMfma16, {kM, 64, 2}, {kK, 32, 1}, 2).value();
  EXPECT_EQ(layout.digits.back(), (Digit{Place::Warp, 2, std::nullopt, 0}));
  EXPECT_TRUE(covers(layout, {{kM, 64}, {kK, 32}}));
}

TEST(MmaChain, WgmmaAccumulatorIsTheFirstOperandOfTheNextProduct) {
  // Attention: S[m, kv] = Q K^T, then P[m, kv] V contracts kv. 176 keys: not a power of two.
  const MmaSide rows{kM, 128, 8};
  const MmaSide keys{kN, 176, 1};
  EXPECT_TRUE(
      same_holders(mma_accumulator_layout(Target::Sm90a, {64, 176, 16}, rows, keys).value(),
                   mma_first_operand_layout(Target::Sm90a, {64, 128, 16}, rows, keys, 1).value()));
}

TEST(MmaChain, MfmaAccumulatorIsTheSecondOperandOfTheNextProduct) {
  // Attention on CDNA: S[kv, q] = K Q^T, then O[d, q] = V^T P contracts kv, P[kv, q] second.
  const MmaSide keys{kK, 64, 1};
  const MmaSide queries{kN, 256, 4};
  EXPECT_TRUE(
      same_holders(mma_accumulator_layout(Target::Gfx942, kMfma32, keys, queries).value(),
                   mma_second_operand_layout(Target::Gfx942, kMfma32, queries, keys, 1).value()));
}

TEST(MmaLayout, RefusesTilesThatTheWarpsCannotShare) {
  const auto rows = mma_accumulator_layout(Target::Sm90a, {64, 128, 16}, {kM, 96, 4}, {kN, 128, 1});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(
      rows.error().message,
      "[kernel.mma_layout] tile of the rows: got 96, need a multiple of 64 (instruction x warps)");
  EXPECT_FALSE(
      mma_accumulator_layout(Target::Sm90a, {64, 128, 16}, {kM, 64, 4}, {kN, 192, 1}).ok());
  EXPECT_FALSE(mma_accumulator_layout(Target::Sm90a, {64, 8, 16}, {kM, 64, 2}, {kN, 64, 1}).ok());
  EXPECT_FALSE(mma_accumulator_layout(Target::Gfx942, kMfma32, {kM, 0, 1}, {kN, 32, 1}).ok());
  EXPECT_FALSE(mma_accumulator_layout(Target::Gfx942, kMfma32, {kM, 32, 0}, {kN, 32, 1}).ok());
  EXPECT_FALSE(mma_first_operand_layout(Target::Gfx942, kMfma32, {kM, 32, 1}, {kK, 12, 1}, 1).ok());
}

TEST(MmaLayout, WgmmaTakesNoSecondOperandInRegisters) {
  const auto layout =
      mma_second_operand_layout(Target::Sm90a, {64, 128, 16}, {kN, 128, 1}, {kK, 64, 1}, 4);
  ASSERT_FALSE(layout.ok());
  EXPECT_NE(layout.error().message.find("need shared memory"), std::string::npos);
}

TEST(MmaShape, KnowsTheInstructionsOfBothTargets) {
  EXPECT_TRUE(check_mma_shape(Target::Sm90a, {64, 8, 16}, DType::BF16).ok());
  EXPECT_TRUE(check_mma_shape(Target::Sm90a, {64, 256, 16}, DType::F16).ok());
  EXPECT_TRUE(check_mma_shape(Target::Gfx942, kMfma32, DType::BF16).ok());
  EXPECT_TRUE(check_mma_shape(Target::Gfx942, kMfma16, DType::F16).ok());
  for (const MmaShape shape : {MmaShape{64, 4, 16},
                               MmaShape{64, 264, 16},
                               MmaShape{64, 12, 16},
                               MmaShape{32, 64, 16},
                               MmaShape{64, 64, 8},
                               MmaShape{}}) {
    EXPECT_FALSE(check_mma_shape(Target::Sm90a, shape, DType::BF16).ok());
  }
  EXPECT_FALSE(check_mma_shape(Target::Gfx942, {64, 64, 16}, DType::BF16).ok());
  EXPECT_FALSE(check_mma_shape(Target::Gfx942, {32, 32, 16}, DType::BF16).ok());
  EXPECT_FALSE(check_mma_shape(Target::Sm90a, {64, 64, 16}, DType::F32).ok());
}

}  // namespace
}  // namespace orrery::kernel
