// Public rows of expert parallelism: recognised, predicted within a fifth, or refused by name.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "orrery/cost/estimate.h"
#include "orrery/validate/validate.h"
#include "test/support/tree.h"

namespace orrery::validate {
namespace {

using ::testing::HasSubstr;

Validation validated(const std::string& csv, const std::string& id) {
  const machine::Machine machine = test::machine(id);
  const library::Library library = test::libraries(machine);
  const cost::ClosedForm estimator(machine);
  auto result = validate_table(
      csv, "moe_a2a.csv", {.library = library, .estimator = estimator, .decoders = {}});
  EXPECT_TRUE(result.ok());
  return std::move(*result);
}

void expect_within_a_fifth(const Validation& result) {
  for (const Compared& each : result.compared) {
    const double ratio = each.predicted.microseconds() / each.measured.microseconds();
    EXPECT_NEAR(ratio, 1.0, 0.2) << each.family;
  }
}

constexpr const char* kExchange =
    "gpu,kind,tokens,hidden,experts,topk,nodes,sms,latency_us,dispatch_us,combine_us,lib,"
    "lib_version,source_id\n";

// Times of ai-dynamo/aiconfigurator @095f58a5.
TEST(PublicExchange, PhasesAndTheirSumAreWithinAFifth) {
  const Validation result = validated(
      std::string(kExchange) +
          "h200_sxm,normal,8192,7168,256,8,1,20,2836.758,969.188,1867.55,deepep,0.5.12,a\n"
          "h200_sxm,normal,64,2048,128,8,1,20,66.004,29.482,36.522,deepep,0.5.12,a\n"
          "h200_sxm,low_latency,256,7168,256,8,1,,184.997,60.522,124.475,deepep,0.5.12,b\n",
      "h200-sxm");
  EXPECT_EQ(result.kind, "public moe_a2a");
  ASSERT_EQ(result.compared.size(), 9U);  // both, dispatch, combine of each
  EXPECT_EQ(result.compared[0].family, "normal from 1 MiB");
  EXPECT_EQ(result.compared[3].family, "normal below 1 MiB");  // 64 x 2048 x 2 bytes: 256 KiB
  expect_within_a_fifth(result);
}

TEST(PublicExchange, NetworksAndOtherExchangesAreRefused) {
  const Validation result =
      validated(std::string(kExchange) +
                    "h200_sxm,normal,64,2048,128,8,2,20,66,29,37,deepep,0.5.12,a\n"
                    "h200_sxm,low_latency_rdma,128,7168,256,8,1,,191,77,114,deepep,v1,a\n",
                "h200-sxm");
  EXPECT_EQ(result.predicted, 0);
  EXPECT_THAT(result.errors.at(0).message, HasSubstr("nodes: got 2, need 1"));
  EXPECT_THAT(result.errors.at(1).message, HasSubstr("got 'low_latency_rdma'"));
}

TEST(PublicExpertParallel, OneKernelOfExpertsAndExchangeIsWithinAFifth) {
  const Validation result = validated(
      "gpu,phase,dtype,tokens,hidden,inter,experts,topk,tp,ep,distribution,latency_us,lib,"
      "lib_version,kernel,graph,source_id\n"
      "b200_sxm,context,w4a8_mxfp4_mxfp8,16384,3584,3072,896,16,1,8,balanced,9528.08,sglang,"
      "0.5.16,deepgemm_megamoe,1,a\n"
      "b200_sxm,generation,w4a8_mxfp4_mxfp8,64,3584,3072,896,16,1,8,balanced,394.691,sglang,"
      "0.5.16,deepgemm_megamoe,1,a\n"
      "b200_sxm,generation,w4a8_mxfp4_mxfp8,64,3584,3072,896,16,1,8,balanced,394.691,sglang,"
      "0.5.16,other,1,a\n",
      "b200");
  EXPECT_EQ(result.kind, "public moe_ep_fused");
  ASSERT_EQ(result.compared.size(), 2U);
  expect_within_a_fifth(result);
  EXPECT_THAT(result.errors.at(0).message, HasSubstr("kernel: got 'other'"));
}

}  // namespace
}  // namespace orrery::validate
