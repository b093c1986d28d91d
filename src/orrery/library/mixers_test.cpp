// Recurrent layers, convolutions and sparse attention: which kernels, their counts and traffic.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "orrery/library/library.h"
#include "orrery/library/sparse_counts.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

std::vector<kernel::Profile> kernels(const Call& call) {
  const machine::Machine machine = test::machine("h200-sxm");
  const Library library = test::libraries(machine);
  auto found = library.candidates(call, machine.chip);
  EXPECT_TRUE(found.ok()) << found.error().to_string();
  return found.ok() ? found->front() : std::vector<kernel::Profile>{};
}

StateMixCall gated(int64_t batch, int64_t seq) {
  StateMixCall call;
  call.batch = batch;
  call.seq = seq;
  call.k_heads = 16;
  call.k_dim = 128;
  call.v_heads = 32;
  call.v_dim = 128;
  return call;
}

TEST(StateMix, PrefillOfADeltaRuleIsSevenKernels) {
  const auto all = kernels(gated(1, 4096));
  ASSERT_EQ(all.size(), 7U);
  // 64 chunks of 64 tokens, 32 heads, two blocks of 64 columns: output; the state walks its chunks.
  EXPECT_EQ(all[6].units, 64 * 32 * 2);
  EXPECT_EQ(all[5].units, 32 * 2);
  EXPECT_EQ(all[5].kinds[0].phases[1].trips, 64);
}

TEST(StateMix, DecodeReadsAndWritesEveryState) {
  StateMixCall call = gated(8, 1);
  call.step = true;
  const auto all = kernels(call);
  ASSERT_EQ(all.size(), 1U);
  const double states = 8.0 * 32 * 128 * 128 * 4;
  EXPECT_GT(all[0].traffic.unique_read.value(), states);
  EXPECT_LT(all[0].traffic.unique_read.value(), 1.05 * states);
  EXPECT_GT(all[0].traffic.unique_write.value(), states);
  call.state = DType::BF16;
  call.fresh_state = true;  // half is read, as much is written
  const auto fresh = kernels(call);
  EXPECT_LT(fresh[0].traffic.unique_read.value(), 0.55 * states);
  EXPECT_GT(fresh[0].traffic.unique_write.value(), states);
}

TEST(StateMix, EveryKindHasAPrefillAndADecode) {
  for (const StateMix kind : {StateMix::GatedDelta,
                              StateMix::KimiDelta,
                              StateMix::Lightning,
                              StateMix::Mamba1,
                              StateMix::Mamba2}) {
    StateMixCall call = gated(2, 512);
    call.kind = kind;
    EXPECT_FALSE(kernels(call).empty()) << name(kind);
    call.step = true;
    call.seq = 1;
    EXPECT_EQ(kernels(call).size(), 1U) << name(kind);
  }
}

TEST(CausalConv1d, OddSequencesTakeSingleLoads) {
  const auto whole = kernels(Conv1dCall{.batch = 1, .seq = 64, .channels = 2048});
  const auto odd = kernels(Conv1dCall{.batch = 1, .seq = 63, .channels = 2048});
  EXPECT_GT(odd[0].kinds[0].phases[1].work.issue.value(),
            whole[0].kinds[0].phases[1].work.issue.value());
  EXPECT_EQ(whole[0].units, 2048);
}

TEST(SparseAttention, QueriesSeeNoMoreThanTheirChoice) {
  // Four queries over four keys see 1, 2, 3, 4; of these at most two are chosen: 1, 2, 2, 2.
  const Seen seen = seen_keys(4, 4, 1, 2);
  EXPECT_DOUBLE_EQ(seen.all, 10);
  EXPECT_NEAR(seen.chosen, 7, 0.6);
  EXPECT_DOUBLE_EQ(seen_keys(1, 4096, 1, 2048).chosen, 2048);
  EXPECT_DOUBLE_EQ(seen_keys(1, 100, 1, 2048).chosen, 100);
  EXPECT_DOUBLE_EQ(seen_keys(1, 100, 1, 0).chosen, 100);
}

TEST(SparseAttention, DecodeOfFewSequencesSplitsTheKeys) {
  SparseAttentionCall call;
  call.heads = 128;
  call.seq_kv = 65536;
  EXPECT_EQ(kernels(call).size(), 2U);  // and a combination
  call.batch = 128;
  EXPECT_EQ(kernels(call).size(), 1U);
}

TEST(SparseAttention, Fp8KeysAreSmaller) {
  SparseAttentionCall call;
  call.heads = 64;
  call.batch = 128;
  call.seq_kv = 65536;
  const double wide = kernels(call)[0].traffic.unique_read.value();
  call.kv_dtype = DType::F8E4M3;  // 656 bytes of 1152 a key
  EXPECT_NEAR(kernels(call)[0].traffic.unique_read.value() / wide, 656.0 / 1152, 0.05);
}

TEST(Indexer, ScoresThenChooses) {
  const auto all = kernels(IndexerCall{.batch = 1, .seq_q = 4096, .seq_kv = 4096, .heads = 64});
  ASSERT_EQ(all.size(), 2U);
  // 4096 queries see 2048.5 keys each on average: a score of 4 bytes for each.
  EXPECT_NEAR(all[0].traffic.unique_write.value(), 4096 * 2048.5 * 4, 1);
}

}  // namespace
}  // namespace orrery::library
