// Tests of attention as serving frameworks run it: names, tiles, splits, kernels.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/framework_attention.h"

#include <gtest/gtest.h>

#include <string>

#include "orrery/library/framework_tiles.h"
#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

machine::Chip chip_of(std::string architecture, int64_t sms) {
  machine::Chip chip;
  chip.id = "test";
  chip.architecture = std::move(architecture);
  chip.core.count = sms;
  chip.core.schedulers = 4;
  chip.core.tensor[DType::BF16] = FlopsPerCycle(4096);
  chip.core.tensor[DType::F8E4M3] = FlopsPerCycle(8192);
  return chip;
}

AttentionCall decode(int64_t batch, int64_t heads, int64_t kv_heads, int64_t seq_kv) {
  AttentionCall call;
  call.batch = batch;
  call.heads = heads;
  call.kv_heads = kv_heads;
  call.seq_kv = seq_kv;
  call.head_dim = 128;
  call.causal = true;
  return call;
}

DecodeTable rule(std::string name, double most) {
  DecodeTable table;
  table.rule = std::move(name);
  table.rows = 64;
  table.keys = 64;
  table.least_keys = 256;
  table.most_splits = most;
  return table;
}

TEST(FrameworkBackend, NamesAFrameworkAKernelOrBoth) {
  EXPECT_EQ(parse_backend("vllm").framework, "vllm");
  EXPECT_EQ(parse_backend("flash3").kernel, "flash3");
  const BackendName both = parse_backend("vllm-flash2");
  EXPECT_EQ(both.framework, "vllm");
  EXPECT_EQ(both.kernel, "flash2");
  EXPECT_TRUE(both.known);
  EXPECT_FALSE(parse_backend("cudnn").known);
  EXPECT_FALSE(parse_backend("vllm-").known);
  EXPECT_FALSE(parse_backend("-flash3").known);
}

TEST(FrameworkTiles, Flash3SplitsOnlyWhereHeadsLeaveSmsIdle) {
  const machine::Chip chip = chip_of("sm_90a", 132);
  // 64 blocks of 128 keys of one sequence with one key head: alone on 132 SMs, so it is split; with
  // 256 sequences every SM has its work.
  EXPECT_GT(decode_shape(decode(1, 8, 1, 8192), rule("flash3", 1), chip).splits, 8);
  EXPECT_EQ(decode_shape(decode(256, 8, 1, 8192), rule("flash3", 1), chip).splits, 1);
  // Four blocks are never split.
  EXPECT_EQ(decode_shape(decode(1, 8, 1, 512), rule("flash3", 1), chip).splits, 1);
}

TEST(FrameworkTiles, Flash2SplitsOnlyPackedHeads) {
  const machine::Chip chip = chip_of("sm_80", 108);
  EXPECT_GT(decode_shape(decode(1, 8, 2, 16384), rule("flash2", 128), chip).splits, 1);
  EXPECT_EQ(decode_shape(decode(1, 8, 8, 16384), rule("flash2", 128), chip).splits, 1);
  AttentionCall sliding = decode(1, 8, 2, 16384);
  sliding.window = 1024;
  const DecodeShape shape = decode_shape(sliding, rule("flash2", 128), chip);
  EXPECT_EQ(shape.splits, 1);
  EXPECT_EQ(shape.groups, 4);  // each query head by itself
}

TEST(FrameworkTiles, XqaLaunchesSplitsOfTheHistoryNotOfTheWindow) {
  const machine::Chip chip = chip_of("sm_90a", 132);
  AttentionCall call = decode(16, 16, 8, 1024);
  call.window = 128;
  const DecodeShape shape = decode_shape(call, rule("xqa", 1024), chip);
  EXPECT_EQ(shape.splits, 7);  // 1023 tokens in splits of 128
  EXPECT_EQ(shape.blocks, 3);  // the window lies in three blocks of 64
}

TEST(FrameworkTiles, XqaWantsGroupsAndEnoughWork) {
  const machine::Chip chip = chip_of("sm_90a", 132);
  EXPECT_FALSE(grouped_kernel_serves(decode(64, 8, 8, 4096), true, false, chip));
  EXPECT_FALSE(grouped_kernel_serves(decode(64, 64, 1, 4096), true, false, chip));
  EXPECT_FALSE(grouped_kernel_serves(decode(1, 4, 2, 8), true, false, chip));
  EXPECT_TRUE(grouped_kernel_serves(decode(1, 4, 2, 8), true, true, chip));
  EXPECT_TRUE(grouped_kernel_serves(decode(64, 8, 2, 4096), true, false, chip));
}

TEST(FrameworkTiles, FlashInferTakesTilesByItsPackedRows) {
  PrefillTable table;
  table.rule = "flashinfer";
  table.keys = 64;
  table.packed = true;
  AttentionCall call = decode(1, 8, 1, 16);
  call.seq_q = 2;  // 16 rows with the heads
  EXPECT_EQ(prefill_tile(call, table, false).rows, 16);
  call.seq_q = 4;
  EXPECT_EQ(prefill_tile(call, table, false).rows, 64);
  call.seq_q = 16;
  EXPECT_EQ(prefill_tile(call, table, false).rows, 128);
}

// Its masked attention of one query is not the kernel of its prompts, which took 2 ms where DRAM
// allows 0.67.
TEST(FrameworkAttention, DecodeOfAnEngineWithoutItsKernelIsRefused) {
  const Library library = *Library::parse(test::read("libraries/trtllm-ampere.toml"), "trtllm");
  AttentionCall call = decode(60, 32, 32, 1200);
  call.backend = "trtllm";
  const auto refused = library.candidates(call, test::machine("a100-sxm-80gb").chip);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(
      refused.error().message,
      "[library.attention] trtllm: got seq_q 1, need more: its decode kernels are not known on "
      "a100-sxm-80gb");
  call.seq_q = call.seq_kv;
  EXPECT_TRUE(library.candidates(call, test::machine("a100-sxm-80gb").chip).ok());
}

TEST(FrameworkAttention, AnUnknownBackendListsTheKnownOnes) {
  AttentionCall call = decode(1, 8, 2, 128);
  call.backend = "fa3";
  const Library library = Library::join({});
  const auto result = library.candidates(call, chip_of("sm_90a", 132));
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("got 'fa3'"), std::string::npos);
  EXPECT_NE(result.error().message.find("flashinfer"), std::string::npos);
}

}  // namespace
}  // namespace orrery::library
