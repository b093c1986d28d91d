// PyTorch's operators that are sequences of kernels: as many nodes as a profiler shows, every size
// a finite time.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

class Sequence : public ::testing::Test {
 protected:
  std::vector<kernel::Profile> kernels(std::string op, int64_t rows, int64_t cols, DType dtype) {
    auto found = library_.candidates(
        RowsCall{.op = std::move(op), .rows = rows, .cols = cols, .dtype = dtype}, machine_.chip);
    EXPECT_TRUE(found.ok()) << found.error().to_string();
    return found.ok() ? found->front() : std::vector<kernel::Profile>{};
  }

  machine::Machine machine_ = test::machine("h200-sxm");
  Library library_ = test::libraries(machine_);
};

// membound2.csv: memcpy, indices, two memsets, histogram, sums; a memset and a sweep for each of
// the two digits of 16 bits.
TEST_F(Sequence, SortsOneLongRowByItsDigits) {
  EXPECT_EQ(kernels("sort", 1, 50257, DType::BF16).size(), 10U);
  EXPECT_EQ(kernels("sort", 1, 50257, DType::F32).size(), 14U);
}

TEST_F(Sequence, SortsShortRowsInPlace) {
  const auto sorted = kernels("sort", 4096, 1000, DType::BF16);
  ASSERT_EQ(sorted.size(), 5U);
  EXPECT_EQ(sorted.back().ctas, 4096);
  EXPECT_EQ(sorted.back().threads, 32);
  EXPECT_EQ(sorted.back().ctas_per_sm, 10);  // 200 registers
}

// 17 and 5 as launched; 127 rows or fewer are sorted all at once.
TEST_F(Sequence, ChoosesTheSortOfLongRowsByTheirNumber) {
  EXPECT_EQ(kernels("sort", 16, 8192, DType::BF16).size(), 17U);
  EXPECT_EQ(kernels("sort", 128, 8192, DType::BF16).size(), 5U);
  EXPECT_EQ(kernels("sort", 128, 8192, DType::F32).size(), 8U);
}

// 16 nodes with two digits, 22 with four; a block a row is one kernel and the sort of its 8.
TEST_F(Sequence, SelectsWithSeveralBlocksFromLongRows) {
  const auto several = kernels("topk8", 128, 8192, DType::BF16);
  ASSERT_EQ(several.size(), 16U);
  EXPECT_EQ(several[3].ctas, 768);
  EXPECT_EQ(kernels("topk8", 128, 8192, DType::F32).size(), 22U);
  EXPECT_EQ(kernels("topk8", 16384, 64, DType::BF16).size(), 2U);
}

// A thread may take 64 elements, but a row of 497 ends after two.
TEST_F(Sequence, ManyShortRowsTakeNoMoreTripsThanTheirElements) {
  const auto short_rows = kernels("topk8", 65453, 497, DType::BF16);
  ASSERT_EQ(short_rows.size(), 16U);
  EXPECT_EQ(short_rows[3].ctas, 65453);
  EXPECT_EQ(short_rows[3].kinds[0].phases[0].trips, 2);
}

// One thread adds the counts of all warps in each pass of the selection.
TEST_F(Sequence, SelectionByFewerWarpsIsFaster) {
  const auto few = kernels("topk8", 184, 184, DType::F32)[0];
  const auto many = kernels("topk8", 184, 1000, DType::F32)[0];
  EXPECT_LT(few.kinds[0].phases[0].chain.fixed.value(),
            many.kinds[0].phases[0].chain.fixed.value());
}

TEST_F(Sequence, SortsTheIndicesOfALargeEmbeddingBackward) {
  EXPECT_EQ(kernels("embedding_backward", 128, 256, DType::BF16).size(), 2U);
  const auto sorted = kernels("embedding_backward", 4096, 32000, DType::BF16);
  ASSERT_EQ(sorted.size(), 31U);
  EXPECT_EQ(sorted[29].ctas, 140782);  // compute_grad_weight
  EXPECT_EQ(sorted[30].ctas, 128000);
  EXPECT_EQ(kernels("embedding_backward", 4096, 50257, DType::BF16).size(), 32U);  // two fills
}

TEST_F(Sequence, SplitsWhatExceedsTwoGiB) {
  const auto sums = kernels("sum_cols", 65536, 16384, DType::F32);
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums.front().ctas, 128 * 32);
}

TEST_F(Sequence, TakesEverySizeAndRefusesOtherTypes) {
  for (const char* op : {"sum_rows",
                         "sum_cols",
                         "sum_all",
                         "mean_rows",
                         "mean_cols",
                         "max_rows",
                         "var_rows",
                         "argmax",
                         "transpose",
                         "cumsum",
                         "gather_rows",
                         "embedding",
                         "index_add",
                         "sort",
                         "topk8",
                         "embedding_backward"}) {
    for (const int64_t rows : {int64_t{1}, int64_t{17}, int64_t{1} << 40}) {
      for (const int64_t cols : {int64_t{1}, int64_t{770}, int64_t{1} << 40}) {
        for (const auto& kernel : kernels(op, rows, cols, DType::F16)) {
          EXPECT_GT(kernel.units, 0) << op;
          EXPECT_TRUE(std::isfinite(kernel.traffic.dram_read.value())) << op;
        }
      }
    }
    EXPECT_EQ(library_
                  .candidates(RowsCall{.op = op, .rows = 8, .cols = 8, .dtype = DType::F8E4M3},
                              machine_.chip)
                  .error()
                  .code,
              ErrorCode::Unsupported);
  }
}

}  // namespace
}  // namespace orrery::library
