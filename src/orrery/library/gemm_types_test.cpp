// Names of operand types read back, and count the bytes that they stand for.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/gemm_types.h"

#include <gtest/gtest.h>

#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

GemmCall gemm(std::string_view types, int64_t m = 128, int64_t n = 4096, int64_t k = 4096) {
  return *with_types({.m = m, .n = n, .k = k}, types);
}

Result<Candidates> candidates(const GemmCall& call, const machine::Machine& machine) {
  return test::libraries(machine).candidates(call, machine.chip);
}

TEST(GemmTypes, NamesReadBack) {
  for (const char* name :
       {"bf16", "fp16", "fp8", "fp8_block", "int8", "w4a16", "mxfp4", "nvfp4", "tf32", "fp32"}) {
    const GemmCall call = gemm(name);
    EXPECT_EQ(*with_types({.m = 128, .n = 4096, .k = 4096}, types_name(call)), call) << name;
  }
  EXPECT_FALSE(with_types({}, "w3a16").ok());
}

TEST(GemmTypes, ResultsAreWiderThanOperands) {
  EXPECT_EQ(gemm("int8").output, DType::I32);
  EXPECT_EQ(gemm("fp8_block").output, DType::BF16);
  EXPECT_EQ(gemm("tf32").output, DType::F32);
}

// 4-bit weights with 4 bytes of scale and zero per 128: 17 bytes for 32 weights.
TEST(GemmTypes, ScalesAreBytesToo) {
  EXPECT_DOUBLE_EQ(weight_bytes(gemm("w4a16")).value(), 4096.0 * 4096 * 17 / 32);
  EXPECT_DOUBLE_EQ(activation_bytes(gemm("fp8_block")).value(), 128.0 * 4096 * (1 + 4.0 / 128));
  EXPECT_DOUBLE_EQ(weight_bytes(gemm("nvfp4")).value(), 4096.0 * 4096 * (0.5 + 1.0 / 16));
}

// A block of 8 warps takes 1024 of k a trip; with 16 rows a chunk's loads touch 261 lines a warp.
TEST(Tinygemm, IsBoundByTheLinesOfItsLoads) {
  const auto machine = test::machine("h200-sxm");
  const auto all = candidates(gemm("w4a16"), machine);
  ASSERT_TRUE(all.ok()) << all.error().to_string();
  const auto& profile = (*all)[0][0];
  EXPECT_EQ(profile.units, 8 * 512);
  EXPECT_EQ(profile.kinds[0].phases[0].trips, 4);
  EXPECT_EQ(profile.kinds[0].phases[0].work.shared_read.value(), 8 * 261 * 128);
  EXPECT_EQ(
      (*candidates(gemm("w4a16", 1), machine))[0][0].kinds[0].phases[0].work.shared_read.value(),
      8 * 21 * 128);
  EXPECT_FALSE(candidates(gemm("w4a16", 16, 4100), machine).ok());
}

TEST(Fp8Block, IsCutOnlyWhereKIsDeepAndSmsIdle) {
  const auto machine = test::machine("h200-sxm");
  EXPECT_EQ((*candidates(gemm("fp8_block", 4, 4096, 14336), machine))[0].size(), 2U);
  EXPECT_EQ((*candidates(gemm("fp8_block", 32, 8192, 8192), machine))[0].size(), 1U);
  EXPECT_EQ((*candidates(gemm("fp8_block", 4096, 4096, 14336), machine))[0].size(), 1U);
}

TEST(Fp4, NeedsAChipWithARateForIt) {
  auto machine = test::machine("h200-sxm");
  const auto refused = candidates(gemm("nvfp4"), machine);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().to_string().find("no matrix rate for f4e2m1"), std::string::npos);
  EXPECT_NE(refused.error().to_string().find("nvfp4"), std::string::npos);
  machine.chip.core.tensor[DType::F4E2M1] = machine.chip.core.tensor.at(DType::F8E4M3) * 2;
  EXPECT_TRUE(candidates(gemm("nvfp4"), machine).ok());
}

}  // namespace
}  // namespace orrery::library
