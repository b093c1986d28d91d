// Attention on CDNA chips: tiles of many queries, splits of few, and who serves a call.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

const machine::Machine& mi300x() {
  static const machine::Machine kMachine = test::machine("mi300x");
  return kMachine;
}

std::vector<kernel::Profile> kernels(const AttentionCall& call) {
  static const Library kLibrary = test::libraries(mi300x());
  const auto all = kLibrary.candidates(call, mi300x().chip);
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

// Half the bytes a number: half the cache.
TEST(MfmaAttention, ASmallCacheIsReadInItsOwnType) {
  AttentionCall call = attention(1, 65536, 32, 8);
  const double wide = kernels(call).front().traffic.unique_read.value();
  call.kv_dtype = DType::F8E4M3;
  const double small = kernels(call).front().traffic.unique_read.value();
  EXPECT_NEAR(small / wide, 0.5, 0.01);
}

// A single token behind 8191 reads 8192 keys, 8 heads of 128 + 128 numbers of 2 bytes.
TEST(MfmaAttention, PackedSequencesReadTheirOwnKeys) {
  AttentionCall call = attention(64, 8192, 8, 8);
  call.batch = 2;
  call.causal = true;
  call.backend = "flash";
  call.lengths = {64, 1};
  call.key_lengths = {64, 8192};
  const kernel::Profile packed = kernels(call).front();
  EXPECT_NEAR(
      packed.traffic.unique_read.value(), (64 + 8192) * 8 * 256 * 2.0 + 65 * 8 * 128 * 2.0, 1);
  call.key_lengths = {64, 1};
  EXPECT_LT(kernels(call).front().traffic.l2_read.value(), packed.traffic.l2_read.value() / 10);
}

}  // namespace
}  // namespace orrery::library
