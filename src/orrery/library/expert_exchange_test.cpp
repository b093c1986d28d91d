// Dispatch and combine: copies, bytes and blocks by hand.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/expert_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

using ::testing::HasSubstr;

Result<Candidates> candidates(const ExpertExchangeCall& call, const std::string& machine) {
  static const Library kLibrary =
      *Library::parse(test::read("libraries/deepep-1.toml"), "libraries/deepep-1.toml");
  return kLibrary.candidates(call, test::machine(machine).chip);
}

kernel::Profile profile(const ExpertExchangeCall& call) {
  const auto all = candidates(call, "h200-sxm");
  EXPECT_TRUE(all.ok()) << all.error().to_string();
  return all->front().front();
}

/// 100 tokens of 128 features on two ranks with two experts each, two of which a token meets.
ExpertExchangeCall small(ExchangePhase phase) {
  return {.phase = phase, .tokens = 100, .hidden = 128, .experts = 4, .topk = 2, .gpus = 2};
}

TEST(DistinctRanks, CountsRanksThatHoldAnyOfTheExperts) {
  EXPECT_DOUBLE_EQ(distinct_ranks(8, 1, 8), 1);  // one expert lies on one rank
  EXPECT_DOUBLE_EQ(distinct_ranks(8, 8, 8), 8);  // all experts on all ranks
  // Both of two experts miss a rank that holds 2 of 4 with 2/4 x 1/3 = 1/6.
  EXPECT_DOUBLE_EQ(distinct_ranks(4, 2, 2), 2 * (1 - 1.0 / 6));
  EXPECT_NEAR(distinct_ranks(256, 8, 8), 5.29, 0.005);
}

TEST(ExpertExchange, SendsOneCopyToEachRankButItsOwn) {
  // 100 tokens x 5/3 ranks, half of which lie across the link, of 256 bytes in bf16.
  EXPECT_NEAR(profile(small(ExchangePhase::Combine)).link.sent.value(), 100 * 5.0 / 6 * 256, 1e-6);
  ExpertExchangeCall fp8 = small(ExchangePhase::Dispatch);
  fp8.dtype = DType::F8E4M3;  // 128 bytes and one scale
  EXPECT_NEAR(profile(fp8).link.sent.value(), 100 * 5.0 / 6 * 132, 1e-6);
}

TEST(ExpertExchange, SendsACopyForEachExpertAtLowLatency) {
  ExpertExchangeCall call = small(ExchangePhase::Dispatch);
  call.backend = "deepep-low-latency";
  // 2 experts, half of them across the link, of 256 bytes and a header of 16.
  EXPECT_NEAR(profile(call).link.sent.value(), 100 * 1.0 * 272, 1e-6);
}

TEST(ExpertExchange, TakesAsManyBlocksAsGroupsOfExpertsAtLowLatency) {
  ExpertExchangeCall call = small(ExchangePhase::Combine);
  EXPECT_EQ(profile(call).ctas, 20);
  call.sms = 24;
  EXPECT_EQ(profile(call).ctas, 24);
  call.backend = "deepep-low-latency";
  EXPECT_EQ(profile(call).ctas, 4);
  call.experts = 256;  // 132 SMs: groups of 2
  EXPECT_EQ(profile(call).ctas, 128);
}

TEST(ExpertExchange, RefusesWhatItHasNoRuleFor) {
  ExpertExchangeCall call = small(ExchangePhase::Combine);
  call.gpus = 16;
  EXPECT_THAT(candidates(call, "h200-sxm").error().to_string(), HasSubstr("networks"));
  call = small(ExchangePhase::Combine);
  call.experts = 5;
  EXPECT_THAT(candidates(call, "h200-sxm").error().to_string(), HasSubstr("multiple of the GPUs"));
  call = small(ExchangePhase::Combine);
  call.dtype = DType::F8E4M3;
  EXPECT_THAT(candidates(call, "h200-sxm").error().to_string(), HasSubstr("need bf16"));
  call.dtype = DType::BF16;
  EXPECT_THAT(candidates(call, "l40s").error().to_string(), HasSubstr("sm_89"));
}

}  // namespace
}  // namespace orrery::library
