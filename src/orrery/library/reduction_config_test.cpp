// The launches of PyTorch's reductions, scans and sorts agree with those that a profiler shows.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/reduction_config.h"

#include <gtest/gtest.h>

#include "orrery/library/scan.h"

namespace orrery::library {
namespace {

// H200: 132 SMs of 2048 threads.
ReductionConfig config(const ReductionShape& shape) {
  return reduction_config(shape, 132, 2048);
}

// sum_rows of 4096 x 4096 bf16: a warp a row, 16 rows a block, 4096 / 32 values a thread.
TEST(ReductionConfig, PutsManyRowsIntoOneBlock) {
  const auto c = config({.outputs = 4096, .inputs = 4096, .vector = 8});
  EXPECT_EQ(c.block_x, 32);
  EXPECT_EQ(c.block_y, 16);
  EXPECT_EQ(c.blocks, 256);
  EXPECT_EQ(c.values, 128);
  EXPECT_TRUE(c.input_vector);
  EXPECT_FALSE(c.across_y);
}

// One row of 128,256: all 512 threads, 251 values each, so no further block joins.
TEST(ReductionConfig, GivesASingleRowOneBlock) {
  const auto c = config({.outputs = 1, .inputs = 128256, .vector = 8});
  EXPECT_EQ(c.block_x, 512);
  EXPECT_EQ(c.block_y, 1);
  EXPECT_EQ(c.values, 251);
  EXPECT_EQ(c.blocks_per_output, 1);
}

// 768 values in vectors of 8 are 96 lanes, of 4 they would be 192: 64 and 128 threads.
TEST(ReductionConfig, SizesABlockByItsVectors) {
  EXPECT_EQ(config({.outputs = 1, .inputs = 768, .vector = 8}).block_x, 64);
  EXPECT_EQ(config({.outputs = 1, .inputs = 768, .vector = 4}).block_x, 128);
  EXPECT_FALSE(config({.outputs = 1, .inputs = 64, .vector = 4}).input_vector);
}

// sum_all of 65536 x 8192: 256 values a thread are the most, whatever fills the chip.
TEST(ReductionConfig, SharesALongSumAmongBlocks) {
  EXPECT_EQ(config({.outputs = 1, .inputs = 65536 * 8192, .vector = 4}).blocks_per_output, 4096);
  EXPECT_EQ(config({.outputs = 1, .inputs = 8192 * 8192, .vector = 8}).blocks_per_output, 528);
  EXPECT_EQ(config({.outputs = 1, .inputs = 16384 * 64, .vector = 8}).blocks_per_output, 128);
}

// Columns: 4 of a thread where their number allows it, else 2 or 1 with blocks of 512 threads.
TEST(ReductionConfig, GivesAThreadFourColumns) {
  const ReductionShape even{.outputs = 1000, .inputs = 16384, .contiguous = false};
  const auto four = config(even);
  EXPECT_EQ(four.output_vector, 4);
  EXPECT_EQ(four.block_x, 32);
  EXPECT_EQ(four.block_y, 4);
  EXPECT_EQ(four.blocks, 8);
  EXPECT_EQ(four.blocks_per_output, 256);
  const auto one = config({.outputs = 1001, .inputs = 1000, .contiguous = false});
  EXPECT_EQ(one.output_vector, 1);
  EXPECT_EQ(one.block_x, 32);
  EXPECT_EQ(one.block_y, 16);
  EXPECT_EQ(one.blocks, 32);
}

// 64 columns are 16 threads of 4; 1024 rows over 8 of them are 128 values each.
TEST(ReductionConfig, UsesNarrowBlocksForFewColumns) {
  const auto c = config({.outputs = 64, .inputs = 1024, .contiguous = false});
  EXPECT_EQ(c.block_x, 16);
  EXPECT_EQ(c.block_y, 8);
  EXPECT_EQ(c.blocks, 1);
  EXPECT_EQ(c.values, 128);
}

// In the proportions of the matrix, between 16 and 512 threads; 9 + 6 - 16 wraps.
TEST(ScanGeometry, WrapsForFarMoreRowsThanColumns) {
  EXPECT_EQ(log_threads_x(128, 1000), 6);
  EXPECT_EQ(log_threads_x(16384, 8192), 4);
  EXPECT_EQ(log_threads_x(512, 128256), 8);
  EXPECT_EQ(log_threads_x(65536, 128), 4);
  EXPECT_EQ(log_threads_x(65536, 64), 9);
}

}  // namespace
}  // namespace orrery::library
