// PyTorch's kernels over rows: the rules agree with the launch geometry that was measured on an
// H200, and counts follow from it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

const machine::Machine& h200() {
  static const machine::Machine kMachine = test::machine("h200-sxm");
  return kMachine;
}

std::vector<kernel::Profile> kernels(const std::string& op,
                                     int64_t rows,
                                     int64_t cols,
                                     DType dtype = DType::BF16,
                                     bool strided = false) {
  static const Library kLibrary = test::libraries(h200());
  const RowsCall call{.op = op, .rows = rows, .cols = cols, .dtype = dtype, .strided = strided};
  auto all = kLibrary.candidates(call, h200().chip);
  EXPECT_TRUE(all.ok()) << all.error().to_string();
  return all.ok() ? all->front() : std::vector<kernel::Profile>{};
}

TEST(Pointwise, ABlockTakes1024DenseElementsOr512Or256) {
  EXPECT_EQ(kernels("gelu", 7, 4096, DType::F32)[0].units, 28);
  EXPECT_EQ(kernels("cast_fp32", 1, 128256)[0].units, 251);
  EXPECT_EQ(kernels("broadcast_mul", 128, 64)[0].units, 16);
  EXPECT_EQ(kernels("broadcast_mul", 16, 4096, DType::F32)[0].units, 256);
  EXPECT_EQ(kernels("gelu", 128, 64, DType::BF16, true)[0].kernel, "elementwise_kernel");
}

// 1000 elements: a block of its own kind, whose threads take their 8 elements one by one.
TEST(Pointwise, ARemainderTakesLonger) {
  const auto whole = kernels("exp", 1, 1024)[0];
  const auto rest = kernels("exp", 3, 1000)[0];
  ASSERT_EQ(whole.kinds.size(), 1U);
  ASSERT_EQ(rest.kinds.size(), 2U);
  EXPECT_EQ(rest.kinds[0].count, 2);
  EXPECT_GT(rest.kinds[1].phases[0].chain.fixed.value(),
            whole.kinds[0].phases[0].chain.fixed.value());
}

// The comparison writes a byte an element; the selection reads it and x again, and y.
TEST(Pointwise, WherePassesItsMaskAndOperandOn) {
  const auto both = kernels("where", 1024, 1024);
  ASSERT_EQ(both.size(), 2U);
  const double n = 1024 * 1024;
  EXPECT_EQ(both[0].traffic.unique_write.value(), n);
  EXPECT_EQ(both[1].traffic.unique_read.value(), n * 5);
  EXPECT_EQ(both[1].traffic.scratch_read.value(), n * 3);
}

TEST(Pointwise, DropoutHasAtMostEightBlocksAMultiprocessor) {
  EXPECT_EQ(kernels("dropout", 16384, 768, DType::F32)[0].units, 1056);
  EXPECT_EQ(kernels("dropout", 64, 1024)[0].units, 256);
  EXPECT_EQ(kernels("dropout", 496, 5304)[0].kinds[0].phases[0].trips, 3);  // 2.4, all of them
}

// counters: 1956 blocks an operand of 1000 x 1001, 4.4 times the sectors of the bytes stored.
TEST(Pointwise, CatOfUnalignedRowsStoresElementByElement) {
  const auto apart = kernels("cat", 1000, 1001)[0];
  EXPECT_EQ(apart.kernel, "CatArrayBatchedCopy_alignedK_contig");
  EXPECT_EQ(apart.units, 2 * 1956);
  const auto& work = apart.kinds[0].phases[0].work;
  EXPECT_GE(work.l2_write.value(), 4 * work.l2_read.value());
  EXPECT_EQ(kernels("cat", 1000, 1000)[0].kernel, "CatArrayBatchedCopy_vectorized");
}

TEST(Norm, RowsNotInFoursTakeTwoKernels) {
  EXPECT_EQ(kernels("layer_norm", 1000, 1000).size(), 1U);
  ASSERT_EQ(kernels("layer_norm", 1000, 1001).size(), 2U);
  EXPECT_EQ(kernels("layer_norm", 1000, 1001)[0].threads, 512);
}

// 64 columns: 16 of 128 threads have four elements, one warp of four works.
TEST(Norm, WarpsWithoutElementsDoLess) {
  const auto narrow = kernels("rms_norm", 100, 64)[0].kinds[0].phases;
  const auto wide = kernels("rms_norm", 100, 512)[0].kinds[0].phases;
  EXPECT_LT(4 * narrow[0].work.issue.value(), 1.01 * wide[0].work.issue.value());
  EXPECT_LT(narrow[1].work.issue.value(), wide[1].work.issue.value());
}

// Rows of 128 KiB: 16 blocks an SM walk over 2 MiB, then over it again, from DRAM by then.
TEST(Norm, LongRowsAreReadTwice) {
  const auto profile = kernels("layer_norm", 16384, 32768)[0];
  EXPECT_NEAR(profile.traffic.dram_read / profile.traffic.unique_read, 2, 0.01);
  const auto few = kernels("layer_norm", 128, 4096)[0];
  EXPECT_EQ(few.traffic.dram_read.value(), few.traffic.unique_read.value());
}

TEST(Norm, TheWeightGradientTakesABlockPer32Columns) {
  const auto tall = kernels("layer_norm_backward", 65536, 256, DType::F32)[1];
  EXPECT_EQ(tall.units, 8);
  EXPECT_EQ(tall.threads, 1024);
  EXPECT_EQ(kernels("layer_norm_backward", 128, 50257)[1].units, 1571);
  EXPECT_EQ(kernels("layer_norm_backward", 128, 50257)[1].threads, 512);
  EXPECT_EQ(kernels("layer_norm_backward", 1, 50257, DType::F32)[1].threads, 32);
}

TEST(Norm, GroupsAndColumnsAsLaunched) {
  EXPECT_EQ(kernels("group_norm", 4096, 1024)[0].units, 131072);
  EXPECT_EQ(kernels("group_norm", 1000, 1001)[0].units, 1000);
  const auto batch = kernels("batch_norm", 4096, 4096);
  EXPECT_EQ(batch[0].units, 128 * 16);
  EXPECT_EQ(kernels("batch_norm", 1000, 1001)[0].units, 32);  // too few rows for a hand-over
  EXPECT_EQ(kernels("batch_norm", 1000, 1001)[2].units, 32 * 4);
  EXPECT_EQ(kernels("batch_norm", 65536, 64)[0].units, 2 * 128);
  EXPECT_EQ(kernels("batch_norm", 60, 22464)[0].units, 176);  // 128 x 4 threads: 60 / 16 is 4
  EXPECT_EQ(kernels("batch_norm", 24, 304)[0].units, 2);
}

TEST(Softmax, TheKernelFollowsFromTheColumns) {
  EXPECT_EQ(kernels("softmax", 512, 1000, DType::F32)[0].units, 128);
  EXPECT_EQ(kernels("softmax", 128, 64)[0].units, 16);
  EXPECT_EQ(kernels("softmax", 1024, 4096)[0].kernel, "cunn_SoftMaxForwardReg");
  EXPECT_EQ(kernels("softmax", 4096, 16384)[0].kernel, "cunn_SoftMaxForwardSmem");
  EXPECT_EQ(kernels("softmax", 1024, 32768)[0].kernel, "cunn_SoftMaxForward");
  EXPECT_EQ(kernels("softmax", 65536, 8192, DType::F32)[0].ctas_per_sm, 1);  // 37 registers
  EXPECT_EQ(kernels("softmax", 1024, 4096)[0].ctas_per_sm, 2);
}

TEST(Softmax, TheBackwardBlockIsHalfOfTheVectorsAtLeast) {
  const auto backward = [](int64_t cols, DType dtype) {
    return kernels("softmax_backward", 16, cols, dtype)[1];
  };
  EXPECT_EQ(backward(4096, DType::F32).threads, 512);
  EXPECT_EQ(backward(4096, DType::BF16).threads, 256);
  EXPECT_EQ(backward(2048, DType::F32).threads, 256);
  EXPECT_EQ(backward(32000, DType::F32).kernel, "cunn_SoftMaxBackward");
  EXPECT_EQ(backward(1000, DType::BF16).kernel, "softmax_warp_backward");
}

TEST(Training, OneBlockGathersTheLosses) {
  const auto threads = [](int64_t rows) { return kernels("cross_entropy", rows, 256)[1].threads; };
  EXPECT_EQ(threads(16), 32);
  EXPECT_EQ(threads(1000), 64);
  EXPECT_EQ(threads(4096), 256);
  EXPECT_EQ(threads(16384), 1024);
}

TEST(Softmax, ComputesInFloatingPointOfTwoOrFourBytes) {
  const Library library = test::libraries(h200());
  const RowsCall call{.op = "softmax", .rows = 8, .cols = 8, .dtype = DType::F8E4M3};
  const auto refused = library.candidates(call, h200().chip);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
}

// 65,536,000 elements are 1000 chunks: three launches of 320 blocks and one of 40, after the one
// that counts the step.
TEST(Training, AdamwTakes320ChunksALaunch) {
  const auto launches = kernels("adamw", 65536, 1000);
  ASSERT_EQ(launches.size(), 5U);
  EXPECT_EQ(launches[1].units, 320);
  EXPECT_EQ(launches[4].units, 40);
}

}  // namespace
}  // namespace orrery::library
