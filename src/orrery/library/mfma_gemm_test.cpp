// Products on CDNA chips: what a tile counts, which are kept, and who serves a call.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/mfma_gemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "orrery/library/gemm_types.h"
#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

using ::testing::HasSubstr;

const machine::Machine& mi300x() {
  static const machine::Machine machine = test::machine("mi300x");
  return machine;
}

MfmaConstants constants() {
  MfmaConstants constants;
  constants.wait = 1000;
  constants.fill = 32;
  constants.load_issue = 6;
  return constants;
}

MfmaTable table() {
  MfmaTable table;
  table.constants = constants();
  for (const int64_t side : {16, 64, 256}) {
    table.tiles.push_back({.tile_m = side, .tile_n = side, .step_bytes = 128});
  }
  table.slices = {1, 2, 4, 8};
  return table;
}

Candidates candidates(const machine::Machine& machine, const GemmCall& call) {
  const auto all = test::libraries(machine).candidates(call, machine.chip);
  EXPECT_TRUE(all.ok()) << all.error().to_string();
  return *all;
}

// The example of mfma_gemm.h: 64 of k in 128 bytes.
TEST(MfmaGemm, CountsAStepOfATile) {
  const GemmCall call{.m = 8192, .n = 8192, .k = 8192};
  const MfmaOption option{.tile_m = 256, .tile_n = 256, .step_bytes = 128};
  const auto problem = mfma_problem(call, mi300x().chip);
  const auto work = mfma_step(option, problem, constants());
  EXPECT_EQ(work.tensor.value(), 2.0 * 256 * 256 * 64);
  EXPECT_EQ(work.shared_write.value(), 64.0 * 1024);
  EXPECT_EQ(work.shared_read.value(), 128.0 * 1024);  // each of 2 x 2 waves: 128 rows, 128 columns
  EXPECT_EQ(work.l2_read.value(), 64.0 * 1024);
  EXPECT_EQ(work.issue.value(), 6.0 * 64 * 2);  // a wave of 64 lanes is two warps of 32
  EXPECT_EQ(mfma_units(option, problem), 1024);
  EXPECT_EQ(mfma_steps(option, problem), 128);
}

// 16 rows and 256 columns: all waves read all rows and a quarter of the columns each.
TEST(MfmaGemm, AFlatTileGivesItsWavesToTheLongerSide) {
  const GemmCall call{.m = 16, .n = 8192, .k = 8192};
  const auto problem = mfma_problem(call, mi300x().chip);
  const auto work =
      mfma_step({.tile_m = 16, .tile_n = 256, .step_bytes = 128}, problem, constants());
  EXPECT_EQ(work.shared_read.value(), (4.0 * 16 + 256) * 128);
  const auto other =
      mfma_step({.tile_m = 256, .tile_n = 16, .step_bytes = 128}, problem, constants());
  EXPECT_EQ(other.shared_read.value(), work.shared_read.value());
}

// 128 x 256 bytes x 2 fill the 64 KiB of LDS; of a quarter of that two fit.
TEST(MfmaGemm, SmallTilesShareAComputeUnit) {
  const GemmCall call{.m = 8192, .n = 8192, .k = 8192};
  const auto problem = mfma_problem(call, mi300x().chip);
  EXPECT_EQ(mfma_residents({.tile_m = 128, .tile_n = 128, .step_bytes = 256}, problem), 1);
  EXPECT_GE(mfma_residents({.tile_m = 64, .tile_n = 64, .step_bytes = 128}, problem), 2);
}

TEST(MfmaGemm, CutsADeepProductOfFewTiles) {
  const GemmCall deep{.m = 16, .n = 1024, .k = 16384};
  const auto deep_choice = mfma_choice(table(), mfma_problem(deep, mi300x().chip));
  ASSERT_FALSE(deep_choice.empty());
  EXPECT_GT(deep_choice.front().slices, 1);
  EXPECT_LE(deep_choice.size(), 4U);
  const GemmCall large{.m = 8192, .n = 8192, .k = 8192};
  const auto large_choice = mfma_choice(table(), mfma_problem(large, mi300x().chip));
  ASSERT_FALSE(large_choice.empty());
  EXPECT_EQ(large_choice.front().slices, 1);
  EXPECT_EQ(large_choice.front().tile_m, 256);
}

// Rows of 100, 0 and 300 in tiles of 64: 2 + 0 + 5, times 1024 / 64 columns; two matrices are read.
TEST(MfmaGemm, GroupsHaveTilesOfTheirOwn) {
  const std::vector<int64_t> rows = {100, 0, 300};
  const GemmCall all{.m = 400, .n = 1024, .k = 512};
  const auto problem = mfma_problem(all, mi300x().chip, rows);
  const MfmaOption option{.tile_m = 64, .tile_n = 64, .step_bytes = 128};
  EXPECT_EQ(mfma_units(option, problem), 7 * 16);
  const auto profile = mfma_profile(option, problem, constants());
  EXPECT_EQ(profile.traffic.unique_read.value(), 2.0 * (400 * 512 + 2 * 1024 * 512));
}

TEST(MfmaGemm, LeavesOutTilesThatDoNotFit) {
  MfmaTable all = table();
  all.tiles = {{.tile_m = 256, .tile_n = 256, .step_bytes = 512}};  // 256 KiB
  const GemmCall call{.m = 8192, .n = 8192, .k = 8192};
  EXPECT_TRUE(mfma_choice(all, mfma_problem(call, mi300x().chip)).empty());
}

// Scales of blocks are AITER's own kernels; plain products are hipBLASLt's.
TEST(MfmaGemm, EachFileServesItsTypes) {
  const auto block = with_types({.m = 512, .n = 4096, .k = 4096}, "fp8_block");
  ASSERT_TRUE(block.ok());
  EXPECT_THAT(candidates(mi300x(), *block).front().front().kernel, HasSubstr("fp8_block_MT"));
  EXPECT_THAT(candidates(mi300x(), {.m = 512, .n = 4096, .k = 4096}).front().front().kernel,
              HasSubstr("bf16_MT"));
}

// What a prediction says of its kernel may be asked again.
TEST(MfmaGemm, NamesOfItsKernelsAreReadBack) {
  const GemmCall call{.m = 16, .n = 1024, .k = 16384};
  for (const auto& sequence : candidates(mi300x(), call)) {
    GemmCall named = call;
    named.kernel = sequence.front().kernel;
    const auto again = candidates(mi300x(), named);
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again.front().front().kernel, named.kernel);
    EXPECT_EQ(again.front().front().units, sequence.front().units);
  }
}

// Steps are bytes of a row: 64 elements of two bytes, 256 of one.
TEST(MfmaGemm, ReadsTilesOfNames) {
  const auto plain = parse_mfma("MT256x128x64", 2);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->tile_m, 256);
  EXPECT_EQ(plain->tile_n, 128);
  EXPECT_EQ(plain->step_bytes, 128);
  EXPECT_EQ(plain->slices, 1);
  const auto cut = parse_mfma("fp8_block_MT16x64x256_split4", 1);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->tile_m, 16);
  EXPECT_EQ(cut->step_bytes, 256);
  EXPECT_EQ(cut->slices, 4);
  const auto full = parse_mfma("Cijk_Alik_Bljk_BBS_BH_MT64x32x128_MI16x16x1_SN_LDSB1", 2);
  ASSERT_TRUE(full);
  EXPECT_EQ(full->tile_n, 32);
  for (const char* bad : {"",
                          "MT",
                          "MT128x128",
                          "MT128x128xK",
                          "MT0x16x64",
                          "128x128x64",
                          "MT128x128x64_split",
                          "MT128x128x64_split0",
                          "FMT128x128x64"}) {
    EXPECT_FALSE(parse_mfma(bad, 2)) << bad;
  }
}

TEST(MfmaGemm, ANamedTileMustFit) {
  const auto of = [](const char* kernel) {
    const GemmCall call{.m = 512, .n = 4096, .k = 4096, .kernel = kernel};
    return test::libraries(mi300x()).candidates(call, mi300x().chip);
  };
  EXPECT_TRUE(of("MT256x256x64").ok());  // 64 KiB of LDS
  const auto large = of("MT256x256x128");
  ASSERT_FALSE(large.ok());
  EXPECT_THAT(large.error().message, HasSubstr("got 131072 B of operands a step, need at most"));
  const auto other = of("nvjet_320x128_64x3_1x2_coopB_TNT");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("need a name like MT256x128x64"));
}

TEST(MfmaGemm, AFamilyWithoutNamesRefusesThem) {
  const auto machine = test::machine("a100-sxm-80gb");
  const GemmCall call{.m = 512, .n = 4096, .k = 4096, .kernel = "MT256x128x64"};
  const auto all = test::libraries(machine).candidates(call, machine.chip);
  ASSERT_FALSE(all.ok());
  EXPECT_THAT(all.error().message,
              HasSubstr("[library.gemm] kernel: got 'MT256x128x64' for bf16, need none"));
}

TEST(MfmaGemm, AChipWithoutATypeSaysSo) {
  const auto fp8 = with_types({.m = 512, .n = 4096, .k = 4096}, "fp8");
  ASSERT_TRUE(fp8.ok());
  const auto machine = test::machine("mi210");
  const auto all = test::libraries(machine).candidates(*fp8, machine.chip);
  ASSERT_FALSE(all.ok());
  EXPECT_THAT(all.error().message, HasSubstr("mi210 has no matrix rate for f8e4m3"));
}

TEST(MfmaGemm, AFileWithABadTileIsRefused) {
  std::string text = test::read("libraries/ck-1.toml");
  const size_t at = text.find("\"16x32\"");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 7, "\"16by32\"");
  const auto library = Library::parse(text, "ck-1.toml");
  ASSERT_FALSE(library.ok());
  EXPECT_THAT(library.error().to_string(), HasSubstr("got '16by32', need a tile like 256x128"));
}

}  // namespace
}  // namespace orrery::library
