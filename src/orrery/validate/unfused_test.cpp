// Operators of transformers as kernels: how many, and how large.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/unfused.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace orrery::validate {
namespace {

std::string texts(const plan::Plan& plan) {
  std::string all;
  for (const plan::Step& step : plan.steps) {
    all += step.name + ": " + library::to_text(step.call) + "\n";
  }
  return all;
}

plan::Plan one(library::Call call, plan::Runtime runtime) {
  plan::Step step;
  step.name = "a";
  step.call = std::move(call);
  step.times = 3;
  plan::Plan plan;
  plan.runtime = runtime;
  plan.steps.push_back(std::move(step));
  return plan;
}

// Two sequences of 8 tokens, 4 heads of 16: 8 matrices of 8 x 8 scores.
library::AttentionCall attention() {
  library::AttentionCall call;
  call.batch = 2;
  call.heads = call.kv_heads = 4;
  call.seq_q = call.seq_kv = 8;
  call.head_dim = 16;
  call.dtype = DType::F32;
  return call;
}

TEST(Unfused, EagerAttentionIsTwoProductsAndWhatLiesBetween) {
  plan::Plan plan = one(attention(), plan::Runtime::Eager);
  unfuse_attention(plan);
  EXPECT_EQ(texts(plan),
            "a.q: copy rows=64 cols=16 dtype=f32 strided=1\n"
            "a.k: copy rows=64 cols=16 dtype=f32 strided=1\n"
            "a.scores: gemm batch=8 m=8 n=8 k=16 dtype=f32\n"
            "a.scale: scale rows=64 cols=8 dtype=f32\n"
            "a.mask: add rows=64 cols=8 dtype=f32\n"
            "a.softmax: softmax rows=64 cols=8 dtype=f32\n"
            "a.v: copy rows=64 cols=16 dtype=f32 strided=1\n"
            "a.values: gemm batch=8 m=8 n=16 k=8 dtype=f32 layout=nn\n"
            "a.merge: copy rows=64 cols=16 dtype=f32 strided=1\n");
  EXPECT_EQ(plan.steps.front().times, 3);
}

TEST(Unfused, ACompilerKeepsTheProductsAndOneSoftmax) {
  plan::Plan plan = one(attention(), plan::Runtime::Inductor);
  unfuse_attention(plan);
  EXPECT_EQ(plan.steps.size(), 3U);
}

TEST(Unfused, NewGeluIsEightKernels) {
  plan::Plan plan =
      one(library::RowsCall{.op = "gelu_tanh", .rows = 4, .cols = 8}, plan::Runtime::Eager);
  unfuse_gelu(plan);
  EXPECT_EQ(plan.steps.size(), 8U);
  plan = one(library::RowsCall{.op = "gelu", .rows = 4, .cols = 8}, plan::Runtime::Eager);
  unfuse_gelu(plan);
  EXPECT_EQ(plan.steps.size(), 1U);
}

}  // namespace
}  // namespace orrery::validate
