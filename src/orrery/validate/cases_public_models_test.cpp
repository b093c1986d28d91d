// Public rows of whole models: predicted by shipped models of the same sizes, or refused by name.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "orrery/cost/estimate.h"
#include "orrery/frontend/huggingface.h"
#include "orrery/validate/validate.h"
#include "test/support/tree.h"

namespace orrery::validate {
namespace {

using ::testing::HasSubstr;

Validation validated(const std::string& rows, const std::string& id) {
  const machine::Machine machine = test::machine(id);
  const library::Library library = test::libraries(machine);
  const cost::ClosedForm estimator(machine);
  Setup setup{.library = library, .estimator = estimator, .decoders = {}};
  setup.model = [](std::string_view name) {
    return frontend::read_huggingface(test::read("models/" + std::string(name) + ".json"), name);
  };
  auto result =
      validate_table("gpu,phase,model,dtype,batch,tp,seqlen_in,seqlen_out,latency_us,lib\n" + rows,
                     "e2e.csv",
                     setup);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result->kind, "public e2e");
  return std::move(*result);
}

double ratio(const Compared& each) {
  return each.predicted.microseconds() / each.measured.microseconds();
}

// Times of NVIDIA/TensorRT-LLM performance.md, 0.5, and of sitar-lab/NeuSight @6945927d.
TEST(PublicModels, GenerationsAreAPromptAndItsSteps) {
  const Validation result = validated(
      "a100,throughput_out_tok_s,llama_7b,fp16,60,1,128,2048,63734400,tensorrt_llm\n"
      "a100,throughput_out_tok_s,llama_7b,fp16,60,1,128,1,,tensorrt_llm\n"
      "a100,first_token,llama_7b,fp16,60,1,128,,,tensorrt_llm\n",
      "a100-sxm-80gb");
  EXPECT_EQ(result.predicted, 3);
  ASSERT_EQ(result.compared.size(), 1U);
  EXPECT_NEAR(ratio(result.compared[0]), 1.0, 0.1);
  // One token needs no step behind the prompt.
  const auto predicted = *result.table.column("predicted_us");
  EXPECT_EQ(result.table.rows[1][predicted], result.table.rows[2][predicted]);
}

TEST(PublicModels, Fp8RowsKeepFp8Caches) {
  // 64 sequences of 2176 tokens: 73 GB of fp16 keys and values, on a card of 48 GB.
  const Validation result = validated(
      "l40s,throughput_out_tok_s,llama_7b,fp8,64,1,128,2048,80808900,tensorrt_llm\n", "l40s");
  ASSERT_EQ(result.compared.size(), 1U);
  EXPECT_NEAR(ratio(result.compared[0]), 1.0, 0.2);
}

TEST(PublicModels, ForwardPassesOfTransformersRunTheirOperators) {
  const Validation result = validated(
      "h100,inf,opt_13,fp32,2,1,2048,,340478,torch\n"
      "h100,inf,gpt3_27,fp32,8,1,2048,,2565910,torch\n"
      "h100,inf_fusion,bert_large,fp32,8,1,512,,64953.6,torch\n",
      "h100-sxm");
  ASSERT_EQ(result.compared.size(), 3U);
  for (const Compared& each : result.compared) {
    EXPECT_NEAR(ratio(each), 1.0, 0.1) << each.family;
  }
}

TEST(PublicModels, TrainingAndUnknownModelsAreRefused) {
  const Validation result = validated(
      "h100,train_tp4,gpt2_large,fp32,4,4,1024,,1,torch\n"
      "h100,inf,switchxl4,fp32,4,1,1024,,1,torch\n"
      "h100,later,opt_13,fp32,4,1,1024,,1,torch\n"
      "h100,first_token,falcon_180b,fp8,1,7,128,,1,tensorrt_llm\n",
      "h100-sxm");
  EXPECT_EQ(result.predicted, 0);
  ASSERT_EQ(result.errors.size(), 4U);
  EXPECT_THAT(result.errors[0].message, HasSubstr("training of whole models is not predicted yet"));
  EXPECT_THAT(result.errors[1].message, HasSubstr("got 'switchxl4', need one of bert_large"));
  EXPECT_THAT(result.errors[2].message, HasSubstr("phase: got 'later'"));
  EXPECT_THAT(result.errors[3].message, HasSubstr("232"));
}

}  // namespace
}  // namespace orrery::validate
