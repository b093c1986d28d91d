// Fused layers of experts: tiles, weights of experts with rows, what an engine knows.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orrery/library/library.h"
#include "orrery/library/moe_types.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

using ::testing::HasSubstr;

const machine::Chip& h200() {
  static const machine::Machine kMachine = test::machine("h200-sxm");
  return kMachine.chip;
}

Result<Candidates> candidates(const std::string& file, const MoeCall& call) {
  return Library::parse(test::read("libraries/" + file), file)->candidates(call, h200());
}

MoeCall eight_tokens(std::string backend, std::string_view types) {
  std::vector<int64_t> rows(128, 0);
  std::fill_n(rows.begin(), 51, 1);
  rows[0] = 14;
  MoeCall call{.tokens = 8, .hidden = 4096, .inter = 1536, .topk = 8, .rows = std::move(rows)};
  call.backend = std::move(backend);
  return *with_types(call, types);
}

// 51 experts with rows, 16 rows a tile at most: a tile each, 48 of 64 columns.
TEST(Moe, AnExpertWithOneRowCostsAWholeTile) {
  const auto all = candidates("moe-triton.toml", eight_tokens("triton", "bf16"));
  ASSERT_TRUE(all.ok()) << all.error().to_string();
  ASSERT_EQ(all->size(), 1U);
  const kernel::Profile& up = all->front()[1];
  EXPECT_THAT(up.kernel, HasSubstr("up 16x64x128"));
  EXPECT_EQ(up.units, 51 * 48);
}

TEST(Moe, OnlyExpertsWithRowsAreRead) {
  const auto bytes = [](std::string_view types) {
    const auto all = candidates("moe-cutlass.toml", eight_tokens("cutlass", types));
    const kernel::Traffic& traffic = all->front()[1].traffic;
    return traffic.unique_read.value() - traffic.scratch_read.value();
  };
  EXPECT_DOUBLE_EQ(bytes("bf16"), 51.0 * 2 * 1536 * 4096 * 2);
  EXPECT_DOUBLE_EQ(bytes("fp8"), 51.0 * 2 * 1536 * 4096);
}

// 64 rows for 51 experts: one on average, then 100.
TEST(Moe, ATileHoldsTheMeanOfAnExpertsRows) {
  MoeCall call = eight_tokens("cutlass", "bf16");
  EXPECT_THAT(candidates("moe-cutlass.toml", call)->front()[1].kernel, HasSubstr("up 16x128x64"));
  call.rows.assign(64, 100);
  EXPECT_THAT(candidates("moe-cutlass.toml", call)->front()[1].kernel, HasSubstr("up 128x128x64"));
}

// Triton's kernels see all tokens x topk rows, so those of experts held elsewhere are written as
// zeros.
TEST(Moe, RowsOfExpertsHeldElsewherePassThroughTriton) {
  MoeCall call = eight_tokens("triton", "bf16");
  call.tokens = 800;
  EXPECT_EQ(candidates("moe-triton.toml", call)->front().size(), 6U);
  EXPECT_EQ(candidates("moe-triton.toml", eight_tokens("triton", "bf16"))->front().size(), 5U);
}

TEST(Moe, SaysWhatItHasNoRuleFor) {
  EXPECT_THAT(candidates("moe-triton.toml", eight_tokens("triton", "nvfp4")).error().message,
              HasSubstr("got nvfp4, need one of bf16, fp8, fp8_block"));
  EXPECT_THAT(candidates("moe-trtllm-gen.toml", eight_tokens("trtllm-gen", "bf16")).error().message,
              HasSubstr("got a chip of sm_90a, need one of sm_100"));
  EXPECT_THAT(candidates("moe-triton.toml", eight_tokens("mine", "bf16")).error().message,
              HasSubstr("need one with a rule for it"));
}

TEST(Moe, NamesOfTypesReadBack) {
  for (const char* types :
       {"bf16", "fp8", "fp8_block", "nvfp4", "w4a16", "w4a16_mxfp4", "w4a8_mxfp4_mxfp8"}) {
    EXPECT_EQ(types_name(*with_types(MoeCall{}, types)), types);
  }
  EXPECT_EQ(weight_bytes(*with_types(MoeCall{}, "w4a16_mxfp4")), 0.53125);
}

TEST(Marlin, SaysThatNoDenseProductWasMeasured) {
  GemmCall call{.m = 16, .n = 8192, .k = 4096, .backend = "marlin"};
  call.quantisation = Quantisation::Int4Weights;
  const auto library = Library::parse(test::read("libraries/moe-marlin.toml"), "moe-marlin.toml");
  ASSERT_TRUE(library.ok()) << library.error().to_string();
  const auto found = library->candidates(call, h200());
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  const kernel::Profile& profile = found->front().front();
  EXPECT_EQ(profile.behaviour.relative_error, 0.35);
  EXPECT_NE(profile.reasons.back().find("no dense product was measured"), std::string::npos);
}

// 16 tokens, 64 tiles of 128 columns with 64 steps each: 4096 steps, dealt to all resident blocks.
TEST(Marlin, MultipliesDensePartsInStripesOnAllProcessors) {
  GemmCall call{.m = 16, .n = 8192, .k = 4096, .backend = "marlin"};
  call.quantisation = Quantisation::Int4Weights;
  const auto library = Library::parse(test::read("libraries/moe-marlin.toml"), "moe-marlin.toml");
  const auto four = library->candidates(call, h200());
  ASSERT_TRUE(four.ok()) << four.error().to_string();
  const kernel::Profile& profile = four->front().front();
  EXPECT_EQ(profile.family, "gemm");
  EXPECT_GE(profile.units, static_cast<double>(h200().core.count));
  // half a byte a weight and 4 bytes of scale and zero per 128, beside 16 rows of A
  EXPECT_NEAR(
      profile.traffic.unique_read.value(), 8192.0 * 4096 * (0.5 + 4.0 / 128) + 16 * 4096 * 2.0, 1);
  call.quantisation = Quantisation::Int8Weights;
  const auto eight = library->candidates(call, h200());
  ASSERT_TRUE(eight.ok()) << eight.error().to_string();
  EXPECT_NEAR(eight->front().front().traffic.unique_read.value(),
              8192.0 * 4096 + 16 * 4096 * 2.0,
              8192.0 * 4);
}

}  // namespace
}  // namespace orrery::library
