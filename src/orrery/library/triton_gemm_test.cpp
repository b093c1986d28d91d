// Triton's products: names, what fits an SM, the order of tiles, edges.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/triton_gemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const machine::Machine& h200() {
  static const machine::Machine machine = test::machine("h200-sxm");
  return machine;
}

Result<Candidates> candidates(const GemmCall& call) {
  static const Library library = test::libraries(h200());
  return library.candidates(call, h200().chip);
}

kernel::Profile profile(std::string name, int64_t m, int64_t n, int64_t k) {
  const auto all =
      candidates({.m = m, .n = n, .k = k, .kernel = std::move(name), .backend = "triton"});
  return all.value().front().front();
}

// Registers and shared memory as compiled by Triton 3.6 for sm_90.
TEST(TritonGemm, NamesWithoutResourcesGetThoseOfTheCompiler) {
  const auto descriptors = parse_triton_gemm("triton_tma_64x256x64_4_w4_g8");
  ASSERT_TRUE(descriptors);
  EXPECT_EQ(descriptors->registers, 154);
  EXPECT_EQ(descriptors->shared, 163872);
  const auto persistent = parse_triton_gemm("triton_persist_128x64x128_3_w8_g8");
  ASSERT_TRUE(persistent);
  EXPECT_EQ(persistent->registers, 58);
  EXPECT_EQ(persistent->shared, 163864);
  const auto pointers = parse_triton_gemm("triton_ptr_64x256x64_4_w4_g8");
  ASSERT_TRUE(pointers);
  EXPECT_NEAR(static_cast<double>(pointers->registers), 200, 8);
  EXPECT_EQ(pointers->shared, 163840);
}

TEST(TritonGemm, NamesAreReadAsTheyAreWritten) {
  const auto kernel = parse_triton_gemm("triton_ptr_128x256x64_4_w8_g8_r183_s4_b196608");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->spills, 4);
  EXPECT_EQ(to_text(*kernel), "triton_ptr_128x256x64_4_w8_g8_r183_s4_b196608");
  for (const std::string_view name : {"triton_",
                                      "triton_ptr_128x256x64_4_w8",
                                      "triton_other_128x256x64_4_w8_g8",
                                      "triton_ptr_32x256x64_4_w8_g8",
                                      "triton_ptr_128x256x64_0_w8_g8",
                                      "triton_ptr_128x256x64_4_w5_g8",
                                      "triton_ptr_128x256x64_4_w8_g0",
                                      "triton_ptr_128x256x64_4_w8_g8_rest",
                                      "triton_ptr_99999999999x256x64_4_w8_g8"}) {
    EXPECT_FALSE(parse_triton_gemm(name)) << name;
  }
}

TEST(TritonGemm, TilesGoDownBandsOfAGroup) {
  const auto p = profile("triton_tma_128x256x64_4_w8_g8", 4096, 4096, 4096);
  EXPECT_EQ(p.units, 512);
  EXPECT_EQ(p.ctas, 512);
  EXPECT_EQ(p.ctas_per_sm, 1);
  EXPECT_EQ(p.roles, kernel::Roles::One);
  EXPECT_THAT(p.traversal.order.tiles, ElementsAre(32, 16));
  EXPECT_EQ(p.traversal.order.group, 8);
  ASSERT_EQ(p.traversal.reads.size(), 2U);
  EXPECT_EQ(p.traversal.reads[0].tile, Bytes(128.0 * 64 * 2));
  EXPECT_EQ(p.traversal.reads[1].tile, Bytes(256.0 * 64 * 2));
  EXPECT_THAT(p.traversal.order.at(8), ElementsAre(0, 1));
}

TEST(TritonGemm, PersistentKernelsHaveACtaAnSm) {
  const auto p = profile("triton_persist_64x64x64_2_w4_g8", 4096, 4096, 4096);
  EXPECT_EQ(p.ctas, 132);
  EXPECT_EQ(p.ctas_per_sm, 1);
  EXPECT_GT(profile("triton_tma_64x64x64_2_w4_g8", 4096, 4096, 4096).ctas_per_sm, 4);
}

// Descriptors stop at the edge, pointers wrap and read again.
TEST(TritonGemm, OnlyPointersReadPastTheEdge) {
  const auto edge = [](std::string_view kind) {
    return profile("triton_" + std::string(kind) + "_128x64x64_4_w4_g8", 16, 8192, 8192)
        .traversal.reads[0]
        .tile.value();
  };
  EXPECT_EQ(edge("ptr"), 128.0 * 64 * 2);
  EXPECT_EQ(edge("tma"), 16.0 * 64 * 2);
}

TEST(TritonGemm, SaysWhatItCannotDo) {
  GemmCall call{.m = 64, .n = 64, .k = 64, .kernel = "triton_odd", .backend = "triton"};
  EXPECT_THAT(candidates(call).error().message, HasSubstr("need a name like triton_ptr_"));
  call.kernel = "triton_ptr_256x256x128_4_w8_g8";
  EXPECT_THAT(candidates(call).error().message, HasSubstr("bytes of shared memory, need at most"));
  call.kernel = "triton_ptr_128x256x64_4_w8_g8";
  call.batch = 2;
  EXPECT_THAT(candidates(call).error().message, HasSubstr("need one product"));
}

}  // namespace
}  // namespace orrery::library
