// Kernels of CDNA chips take about as long as published, by the machines' and libraries' own files.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "orrery/cost/estimate.h"
#include "orrery/library/library.h"
#include "orrery/plan/estimate.h"
#include "test/support/tree.h"

namespace orrery::cost {
namespace {

double microseconds(const std::string& id, const library::Call& call) {
  const ClosedForm form(test::machine(id));
  const auto all = test::libraries(form.machine()).candidates(call, form.machine().chip);
  if (!all.ok()) {
    ADD_FAILURE() << all.error().to_string();
    return 0;
  }
  return plan::choose(*all, form, {}).estimate.time.seconds().value() * 1e6;
}

library::GemmCall gemm(int64_t m, int64_t n, int64_t k, DType type = DType::BF16) {
  library::GemmCall call;
  call.m = m;
  call.n = n;
  call.k = k;
  call.input = type;
  call.output = type;
  return call;
}

library::AttentionCall attention(int64_t batch, int64_t seq_q, int64_t seq_kv, int64_t heads) {
  library::AttentionCall call;
  call.batch = batch;
  call.heads = heads;
  call.kv_heads = heads / 4;
  call.seq_q = seq_q;
  call.seq_kv = seq_kv;
  call.head_dim = 128;
  return call;
}

// ROCm/tritonBLAS @3b84da43, hipBLASLt on an MI300X, buffers in rotation: 8192^3 in 1706 us;
// LLMCompass @2e015fd2 on an MI210, fp16: 8192 x 4096 x 4096 in 2290 us.
TEST(Cdna, LargeProductsTakeAboutAsLongAsPublished) {
  EXPECT_NEAR(microseconds("mi300x", gemm(8192, 8192, 8192)) / 1706, 1, 0.15);
  EXPECT_NEAR(microseconds("mi210", gemm(8192, 4096, 4096, DType::F16)) / 2290, 1, 0.2);
}

// 436 MB of weights at 81 to 100 % of what DRAM reaches.
TEST(Cdna, AFewRowsAreBoundByTheirWeights) {
  const double seconds = microseconds("mi355x", gemm(4, 16384, 13312)) * 1e-6;
  const double rate = 16384.0 * 13312 * 2 / seconds;
  EXPECT_GT(rate / test::machine("mi355x").chip.dram.read.value(), 0.81);
  EXPECT_LT(rate / test::machine("mi355x").chip.dram.read.value(), 1);
}

// Primus-Turbo @221d75f1 on an MI300X, 32 heads, 8 key heads: 2190 us, and 4 sequences, causal,
// 4511.
TEST(Cdna, PrefillTakesAboutAsLongAsPublished) {
  EXPECT_NEAR(microseconds("mi300x", attention(1, 8192, 8192, 32)) / 2190, 1, 0.15);
  auto causal = attention(4, 8192, 8192, 32);
  causal.causal = true;
  EXPECT_NEAR(microseconds("mi300x", causal) / 4511, 1, 0.15);
}

// 32 sequences of 32768 keys and values of 8 heads: 4.3 GB.
TEST(Cdna, ADecodeOfLongContextsIsBoundByDram) {
  const double seconds = microseconds("mi300x", attention(32, 1, 32768, 32)) * 1e-6;
  const double share = 4.295e9 / seconds / test::machine("mi300x").chip.dram.bandwidth.value();
  EXPECT_GT(share, 0.5);
  EXPECT_LT(share, 0.85);
}

}  // namespace
}  // namespace orrery::cost
