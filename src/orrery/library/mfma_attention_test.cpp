// Attention on CDNA chips: tiles of many queries, splits of few, and who serves a call.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

const machine::Machine& mi300x() {
  static const machine::Machine machine = test::machine("mi300x");
  return machine;
}

std::vector<kernel::Profile> kernels(const AttentionCall& call) {
  static const Library library = test::libraries(mi300x());
  const auto all = library.candidates(call, mi300x().chip);
  EXPECT_TRUE(all.ok()) << all.error().to_string();
  return all->front();
}

AttentionCall attention(int64_t seq_q, int64_t seq_kv, int64_t heads, int64_t kv_heads) {
  AttentionCall call;
  call.heads = heads;
  call.kv_heads = kv_heads;
  call.seq_q = seq_q;
  call.seq_kv = seq_kv;
  call.head_dim = 128;
  return call;
}

// 64 tiles of 128 queries a head.
TEST(MfmaAttention, ManyQueriesAreTiles) {
  const auto all = kernels(attention(8192, 8192, 28, 4));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().units, 64 * 28);
}

// 8 key heads on 304 units that hold two workgroups each: 608 / 8 splits, but at least four blocks
// of 64 keys in each.
TEST(MfmaAttention, FewQueriesAreCutIntoSplits) {
  AttentionCall call = attention(1, 65536, 32, 8);
  auto all = kernels(call);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.front().units, 8 * 76);
  call.seq_kv = 1024;
  EXPECT_EQ(kernels(call).front().units, 8 * 4);
  call.batch = 128;
  EXPECT_EQ(kernels(call).size(), 1U);
}

}  // namespace
}  // namespace orrery::library
