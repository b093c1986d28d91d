// cuBLAS' older kernels: which serve a call, how they are cut along k, and what their steps count.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/cublas_legacy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "orrery/library/gemm_types.h"
#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

const machine::Machine& h200() {
  static const machine::Machine kMachine = test::machine("h200-sxm");
  return kMachine;
}

Candidates candidates(const GemmCall& call) {
  static const Library kLibrary = test::libraries(h200());
  auto all = kLibrary.candidates(call, h200().chip);
  EXPECT_TRUE(all.ok()) << all.error().to_string();
  return all.ok() ? *std::move(all) : Candidates{};
}

GemmCall gemm(std::string_view types, int64_t m, int64_t n, int64_t k) {
  return *with_types({.m = m, .n = n, .k = k}, types);
}

bool all_named(const Candidates& all, const std::string& part) {
  return !all.empty() && std::all_of(all.begin(), all.end(), [&](const auto& sequence) {
    return sequence.front().kernel.find(part) != std::string::npos;
  });
}

// The candidate of `kernel` with so many units.
const std::vector<kernel::Profile>* cut(const Candidates& all,
                                        const std::string& kernel,
                                        int64_t units) {
  for (const auto& sequence : all) {
    if (sequence.front().kernel.find(kernel) != std::string::npos &&
        sequence.front().units == units) {
      return &sequence;
    }
  }
  ADD_FAILURE() << "no candidate " << kernel << " with " << units << " units";
  return nullptr;
}

TEST(CublasLegacy, AlignmentDecidesTheGeneration) {
  EXPECT_TRUE(all_named(candidates(gemm("bf16", 64, 512, 512)), "nvjet"));
  EXPECT_TRUE(all_named(candidates(gemm("bf16", 64, 512, 514)), "cutlass_80"));
  EXPECT_TRUE(all_named(candidates(gemm("bf16", 64, 512, 513)), "cutlass_75_tensorop"));
  EXPECT_TRUE(all_named(candidates(gemm("bf16", 64, 511, 512)), "cutlass_75_tensorop"));
  EXPECT_FALSE(all_named(candidates(gemm("fp16", 64, 512, 513)), "cutlass_75_tensorop"))
      << "fp16 has wmma kernels as well";
}

// 208 x 1016 x 1408 has 4 x 16 tiles of 64 x 64; 264 / 64 slices fill each of 132 SMs with two
// CTAs: 4, as launched, and execute_split_k_kernel adds them, two CTAs a tile.
TEST(CublasLegacy, SlicesFillTheSms) {
  const auto all = candidates(gemm("fp32", 208, 1016, 1408));
  const auto* sequence = cut(all, "ffma 64x64", 256);
  ASSERT_NE(sequence, nullptr);
  ASSERT_EQ(sequence->size(), 2U);
  EXPECT_EQ((*sequence)[1].units, 128);
  EXPECT_EQ((*sequence)[0].kinds[0].phases[0].trips, 44) << "352 of k in steps of 8";
}

// 2336 x 1440 x 6840: 228 tiles of 128 x 128 on 264 slots; nine slices fill 7.8 waves, as launched.
TEST(CublasLegacy, LargeGridsAreCutInPlace) {
  const auto all = candidates(gemm("fp32", 2336, 1440, 6840));
  const bool found = std::any_of(all.begin(), all.end(), [](const auto& sequence) {
    return sequence.size() == 1 &&
           sequence.front().kernel.find("ffma 128x128") != std::string::npos &&
           sequence.front().extra_nodes == 1 && sequence.front().units % 228 == 0 &&
           sequence.front().units > 228;
  });
  EXPECT_TRUE(found);
}

TEST(CublasLegacy, TinyFp32ProductsAreCutTooFinely) {
  const auto all = candidates(gemm("fp32", 48, 136, 40));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0][0].units, 3 * 88);
  EXPECT_EQ(candidates(gemm("fp32", 48, 96, 280))[0][0].units, 70);
}

// Units of the only launch that the library takes.
int64_t only_units(std::string_view types, int64_t m, int64_t n, int64_t k) {
  const auto all = candidates(gemm(types, m, n, k));
  EXPECT_EQ(all.size(), 1U) << types << " " << m << "x" << n << "x" << k;
  return all.empty() ? 0 : all[0][0].units;
}

TEST(CublasLegacy, SmallProductsAreCutWhateverItCosts) {
  EXPECT_EQ(only_units("fp32", 288, 48, 56), 3 * 14) << "128 x 128, 4 of k a slice";
  EXPECT_EQ(only_units("fp32", 147, 50, 113), 3 * 29) << "64 x 64";
  EXPECT_EQ(only_units("tf32", 40, 104, 128), 2 * 4) << "32 of k a slice";
  EXPECT_EQ(only_units("tf32", 16, 128, 448), 2 * 7) << "64 of k a slice";
  EXPECT_EQ(only_units("bf16", 321, 43, 36), 6 * 5) << "8 of k a slice";
  EXPECT_EQ(only_units("bf16", 370, 179, 49), 6 * 7) << "128 x 128";
  EXPECT_EQ(only_units("fp32", 16, 849, 5905), 7 * 8) << "32 x 128, eight slices";
}

TEST(CublasLegacy, ProductsOfShortKAreNotCutIntoEmptySlices) {
  EXPECT_GT(candidates(gemm("fp32", 24, 136, 24)).size(), 1U);
  EXPECT_GT(candidates(gemm("tf32", 344, 88, 32)).size(), 1U);
}

// A thread of 8 x 4 outputs loads 12 values for 32 FMA: 64 x 64 x 8 on 4 warps is 1024 FMA
// instructions and 96 LDS of 4 values, beside the copies; each value reaches 32 lanes.
TEST(CublasLegacy, CountsALanesStep) {
  const auto all = candidates(gemm("fp32", 5504, 6536, 248));
  const auto* sequence = cut(all, "ffma 64x64", 86 * 103);
  ASSERT_NE(sequence, nullptr);
  const auto& work = (*sequence)[0].kinds[0].phases[0].work;
  EXPECT_EQ(work.fma, 64 * 64 * 8);
  EXPECT_EQ(work.shared_read.value(), 12 * 8 * 4 * 32 * 4);
  EXPECT_GT(work.issue.value(), 1024 + 96);
}

TEST(CublasLegacy, OneWarpgroupsTilesGoInPairs) {
  const auto all = candidates(gemm("tf32", 4096, 4096, 4096));
  const auto* small = cut(all, "sm90_xmma_tf32f32 128x128", 1024);
  const auto* large = cut(all, "sm90_xmma_tf32f32 256x128", 512);
  ASSERT_TRUE(small != nullptr && large != nullptr);
  EXPECT_EQ((*small)[0].ctas_per_sm, 2);
  EXPECT_EQ((*large)[0].ctas_per_sm, 1);
}

TEST(CublasLegacy, Int8IsNeverCut) {
  for (const auto& sequence : candidates(gemm("int8", 32, 4096, 14336))) {
    EXPECT_EQ(sequence.size(), 1U);
  }
}

}  // namespace
}  // namespace orrery::library
