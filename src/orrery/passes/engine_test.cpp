// Backends of serving engines.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::passes {
namespace {

using graph::Scheme;

TEST(Engine, HasANameThatReadsBack) {
  for (const char* name : {"pytorch", "vllm", "sglang", "trtllm"}) {
    EXPECT_EQ(passes::name(*parse_engine(name)), name);
  }
  EXPECT_THAT(parse_engine("tgi").error().message,
              ::testing::HasSubstr("engine: got 'tgi', need pytorch, vllm, sglang or trtllm"));
}

TEST(Engine, LeavesTheFrameworksKernelsAlone) {
  EXPECT_EQ(attention_backend(Engine::PyTorch, false, "sm_90a"), "");
  EXPECT_EQ(expert_backend(Engine::PyTorch, Scheme::None, "sm_90a"), "");
  EXPECT_EQ(all_reduce_backend(Engine::PyTorch, "sm_90a"), "");
}

TEST(Engine, TakesItsOwnKernelsByChip) {
  EXPECT_EQ(attention_backend(Engine::Sglang, false, "sm_90a"), "sglang");
  EXPECT_EQ(expert_backend(Engine::Vllm, Scheme::None, "sm_90a"), "triton");
  EXPECT_EQ(expert_backend(Engine::Vllm, Scheme::None, "sm_100a"), "trtllm-gen");
  EXPECT_EQ(expert_backend(Engine::TensorRtLlm, Scheme::None, "sm_90a"), "cutlass");
  EXPECT_EQ(latent_backend(Engine::Vllm, false, "sm_90a"), "sglang-mla");
  EXPECT_EQ(latent_backend(Engine::Vllm, false, "sm_80"), "trtllm-mla");
  EXPECT_EQ(all_reduce_backend(Engine::Vllm, "sm_90a"), "vllm");
  EXPECT_EQ(attention_backend(Engine::Vllm, false, "gfx942"), "");
}

TEST(Engine, IsRefusedWhereNoneOfItsKernelsIsKnown) {
  EXPECT_TRUE(check_engine(Engine::Vllm, "sm_90a").ok());
  EXPECT_TRUE(check_engine(Engine::PyTorch, "gfx942").ok());
  EXPECT_THAT(check_engine(Engine::Vllm, "gfx942").error().message,
              ::testing::HasSubstr("got vllm on a chip of gfx942, need pytorch"));
}

TEST(Engine, ReadsSmallCachesInAnyCase) {
  EXPECT_EQ(attention_backend(Engine::PyTorch, true, "sm_90a"), "vllm");
  EXPECT_EQ(attention_backend(Engine::Vllm, true, "sm_80"), "sglang");
  // No decode kernel of TensorRT-LLM is known on an A100.
  EXPECT_EQ(attention_backend(Engine::TensorRtLlm, false, "sm_80"), "trtllm");
  EXPECT_EQ(attention_backend(Engine::TensorRtLlm, false, "sm_80", true), "");
  EXPECT_EQ(attention_backend(Engine::TensorRtLlm, true, "sm_80", true), "sglang");
  EXPECT_EQ(attention_backend(Engine::TensorRtLlm, false, "sm_90a", true), "trtllm");
  EXPECT_EQ(latent_backend(Engine::PyTorch, true, "sm_90a"), "trtllm-mla");
}

}  // namespace
}  // namespace orrery::passes
