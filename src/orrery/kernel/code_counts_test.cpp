// The counting rule, worked out by hand for the three families on gfx942.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/code_counts.h"

#include <gtest/gtest.h>

#include "orrery/kernel/family/add_rms_norm.h"
#include "orrery/kernel/family/decode_attention.h"
#include "orrery/kernel/family/gemm.h"

namespace orrery::kernel {
namespace {

TEST(CodeCounts, GemmReadsEachBlockOncePerPairOfInstructions) {
  GemmConfig config;
  config.target = Target::Gfx942;
  config.tile_m = 128;
  config.tile_n = 128;
  config.tile_k = 32;
  config.ring = 2;
  config.warps = 4;
  config.column_warps = 2;
  const CodeCounts code = code_counts(gemm_program(config).value());
  // A wave has 64 x 64 of the tile: 2 x 2 blocks of 32 x 32, times 32 / 8 steps.
  EXPECT_EQ(code.matrix_instructions, 16);
  // 2 + 2 blocks, 16 bytes for two steps at a time: 4 x 2 reads.
  EXPECT_EQ(code.shared_loads, 8);
  EXPECT_EQ(code.shared_load_bytes, 8 * 16);
  // 128 x 32 x 2 B per operand over 256 threads is two vectors of 16 bytes; two operands; before
  // the loop and in it.
  EXPECT_EQ(code.shared_stores, 2 * 2 * 2);
  // 2 entries x 2 operands x 128 rows x (32 + 8) x 2 B.
  EXPECT_EQ(code.shared_bytes, 2 * 2 * 128 * 40 * 2);
}

TEST(CodeCounts, DecodeReadsValuesAcrossRowsElementByElement) {
  DecodeConfig config;
  config.target = Target::Gfx942;
  config.group = 16;
  config.tile_s = 32;
  config.ring = 2;
  const CodeCounts code = code_counts(decode_attention_program(config).value());
  // Scores: 2 blocks of 16 keys x 128 / 16 steps. Output: 128 / 16 blocks x 32 / 16 steps.
  EXPECT_EQ(code.matrix_instructions, 2 * 8 + 8 * 2);
  // K: 16 reads of 8 bytes. V: the contracted axis (keys) goes from row to row, so 16 x 4 reads of
  // 2 bytes.
  EXPECT_EQ(code.shared_loads, 16 + 64);
  EXPECT_EQ(code.shared_load_bytes, 16 * 8 + 64 * 2);
  // Maximum and sum over keys: lanes 16 and 32 apart, one register each.
  EXPECT_EQ(code.lane_exchanges, 2 * 2);
}

TEST(CodeCounts, NormMeetsInScratchOnceARow) {
  AddRmsNormConfig config;
  config.target = Target::Gfx942;
  config.row_warps = 4;
  const CodeCounts code = code_counts(add_rms_norm_program(config).value());
  EXPECT_EQ(code.matrix_instructions, 0);
  // 64 lanes: masks 1, 2, 4, 8 permute within 16 lanes, 16 and 32 are exchanged.
  EXPECT_EQ(code.lane_exchanges, 2);
  EXPECT_EQ(code.shared_stores, 1);  // one partial sum a wave
  EXPECT_EQ(code.shared_loads, 1);   // four of them in one read
  EXPECT_EQ(code.shared_load_bytes, 16);
  EXPECT_EQ(code.shared_bytes, 16);
}

TEST(CodeCounts, HopperStatesItsSharedBytesOnly) {
  const CodeCounts code = code_counts(gemm_program({}).value());
  EXPECT_EQ(code.matrix_instructions, 0);
  EXPECT_GT(code.shared_bytes, 0);
}

}  // namespace
}  // namespace orrery::kernel
