// Public attention tables: rows of three frameworks on an H200, recognised by their columns.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "orrery/cost/estimate.h"
#include "orrery/validate/validate.h"
#include "test/support/tree.h"

namespace orrery::validate {
namespace {

Validation validated(const std::string& csv) {
  const machine::Machine machine = test::machine("h200-sxm");
  const library::Library library = test::libraries(machine);
  const cost::ClosedForm estimator(machine);
  auto result = validate_table(
      csv, "table.csv", {.library = library, .estimator = estimator, .decoders = {}});
  EXPECT_TRUE(result.ok());
  return std::move(*result);
}

constexpr const char* kHeader =
    "gpu,dtype,kv_dtype,batch,heads,kv_heads,head_dim,head_dim_v,seqlen_q,seqlen_kv,causal,window,"
    "latency_us,lib,lib_version,kernel,graph,source_id\n";

// Times of ai-dynamo/aiconfigurator @095f58a5.
TEST(PublicAttention, RowsOfThreeFrameworksAreWithinAFifth) {
  const Validation result = validated(
      std::string(kHeader) +
      "h200_sxm,bf16,bf16,64,2,1,128,,1,4096,1,0,43.97,sglang,0.5.14,fa3,1,a\n"
      "h200_sxm,bf16,bf16,128,12,4,128,,1,4096,1,0,255.68,vllm,0.24.0,vllm_flash_attn_fa3,1,b\n"
      "h200_sxm,bf16,bf16,2048,128,8,128,,1,2,1,0,663.9,trtllm,1.3.0rc20,torch_flow,1,c\n");
  EXPECT_EQ(result.kind, "public_attention");
  ASSERT_EQ(result.compared.size(), 3U);
  for (const Compared& each : result.compared) {
    const double ratio = each.predicted.microseconds() / each.measured.microseconds();
    EXPECT_NEAR(ratio, 1.0, 0.2) << each.family;
  }
}

TEST(PublicAttention, LatentTablesHaveNoKeyHeads) {
  const Validation result = validated(
      "gpu,dtype,kv_dtype,batch,heads,seqlen_q,seqlen_kv,causal,tp,latency_us,lib,lib_version,"
      "kernel,graph,source_id\n"
      "h200_sxm,bf16,bf16,1,1,1,256,1,64,16.3552,sglang,0.5.14,flash_attention,1,a\n");
  EXPECT_EQ(result.kind, "public_mla");
  EXPECT_EQ(result.predicted, 1);
}

TEST(PublicAttention, ARowThatNoKernelServesCarriesItsError) {
  const Validation result = validated(
      std::string(kHeader) + "h200_sxm,bf16,bf16,1,8,8,128,,1,64,1,0,9,other,1,fastest,1,a\n");
  ASSERT_EQ(result.errors.size(), 1U);
  EXPECT_NE(result.errors.front().message.find("vllm"), std::string::npos);
}

}  // namespace
}  // namespace orrery::validate
