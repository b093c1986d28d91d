// FLOP of calls against counting by hand.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/call_flops.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace orrery::library {
namespace {

TEST(CallFlops, ProductsHaveNoPadding) {
  EXPECT_EQ(call_flops(GemmCall{.batch = 2, .m = 33, .n = 7, .k = 5}), Flops(2.0 * 2 * 33 * 7 * 5));
  EXPECT_EQ(call_flops(GroupedGemmCall{.rows = {3, 0, 4}, .n = 5, .k = 6}), Flops(2.0 * 7 * 5 * 6));
  MoeCall moe{.tokens = 4, .hidden = 8, .inter = 16, .topk = 2, .rows = {5, 3}};
  EXPECT_EQ(call_flops(moe), Flops(2.0 * 3 * 8 * 8 * 16));
  moe.gated = false;
  EXPECT_EQ(call_flops(moe), Flops(2.0 * 2 * 8 * 8 * 16));
}

TEST(CallFlops, AttentionCountsThePairsThatTheMaskLeaves) {
  for (const int64_t window : {0, 1, 4, 100}) {
    for (const int64_t queries : {1, 6, 9}) {
      for (const int64_t keys : {6, 9}) {
        double pairs = 0;
        for (int64_t i = 0; i < queries; ++i) {
          const int64_t last = i + keys - queries;
          const int64_t first = window > 0 ? std::max<int64_t>(0, last - window) : 0;
          pairs += static_cast<double>(std::max<int64_t>(0, last - first + 1));
        }
        const AttentionCall call{.batch = 3,
                                 .heads = 4,
                                 .kv_heads = 2,
                                 .seq_q = queries,
                                 .seq_kv = keys,
                                 .head_dim = 64,
                                 .causal = true,
                                 .backend = "",
                                 .head_dim_v = 32,
                                 .window = window};
        EXPECT_EQ(call_flops(call), Flops(3 * 4 * pairs * 2 * (64 + 32)))
            << window << ' ' << queries << ' ' << keys;
      }
    }
  }
}

TEST(CallFlops, PackedSequencesHaveTheirOwnPairs) {
  AttentionCall call{.heads = 2, .kv_heads = 2, .head_dim = 8, .backend = "", .lengths = {3, 5}};
  EXPECT_EQ(call_flops(call), Flops(2.0 * (9 + 25) * 2 * 16));
  call.key_lengths = {10, 20};
  EXPECT_EQ(call_flops(call), Flops(2.0 * (30 + 100) * 2 * 16));
}

TEST(CallFlops, ConvolutionsCountTheirResults) {
  const ConvCall call{.batch = 2,
                      .c = 8,
                      .h = 9,
                      .w = 7,
                      .k = 4,
                      .r = 3,
                      .s = 3,
                      .stride = 2,
                      .pad = 1,
                      .groups = 2};
  EXPECT_EQ(call_flops(call), Flops(2.0 * (2 * 4 * 5 * 4) * (4 * 3 * 3)));
}

TEST(CallFlops, RowsHaveNone) {
  EXPECT_EQ(call_flops(RowsCall{.op = "add", .rows = 4, .cols = 4}), std::nullopt);
}

}  // namespace
}  // namespace orrery::library
