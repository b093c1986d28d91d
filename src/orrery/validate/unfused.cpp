// Operators of transformers as the kernels that run.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/unfused.h"

#include <string>
#include <utility>
#include <vector>

namespace orrery::validate {

namespace {

using Named = std::pair<std::string, library::Call>;

/// A batched product of heads.
library::GemmCall product(const library::AttentionCall& call, int64_t n, int64_t k) {
  return {.batch = call.batch * call.heads,
          .m = call.seq_q,
          .n = n,
          .k = k,
          .input = call.dtype,
          .output = call.dtype};
}

std::vector<Named> attention_parts(const library::AttentionCall& call, bool compiled) {
  const int64_t heads = call.batch * call.heads;
  const int64_t values = call.head_dim_v > 0 ? call.head_dim_v : call.head_dim;
  const auto heads_apart = [&](int64_t tokens, int64_t width) {
    return library::RowsCall{
        .op = "copy", .rows = heads * tokens, .cols = width, .dtype = call.dtype, .strided = true};
  };
  const auto over_scores = [&](const char* op) {
    return library::RowsCall{
        .op = op, .rows = heads * call.seq_q, .cols = call.seq_kv, .dtype = call.dtype};
  };
  library::GemmCall weighted = product(call, values, call.seq_kv);
  weighted.layout = library::GemmLayout::NN;
  const library::GemmCall scores = product(call, call.seq_kv, call.head_dim);
  if (compiled) {
    return {{"scores", scores}, {"softmax", over_scores("softmax")}, {"values", weighted}};
  }
  return {{"q", heads_apart(call.seq_q, call.head_dim)},
          {"k", heads_apart(call.seq_kv, call.head_dim)},
          {"scores", scores},
          {"scale", over_scores("scale")},
          {"mask", over_scores("add")},
          {"softmax", over_scores("softmax")},
          {"v", heads_apart(call.seq_kv, values)},
          {"values", weighted},
          {"merge", heads_apart(call.seq_q, values)}};
}

/// 0.5 x (1 + tanh(c (x + d x^3))), from the left.
std::vector<Named> gelu_parts(const library::RowsCall& call) {
  std::vector<Named> all;
  for (const char* op : {"scale", "scale", "scale", "add", "scale", "tanh", "scale", "mul"}) {
    library::RowsCall part = call;
    part.op = op;
    all.emplace_back(op, part);
  }
  return all;
}

template <class Parts>
void replace(plan::Plan& plan, const Parts& parts_of) {
  std::vector<plan::Step> steps;
  for (plan::Step& step : plan.steps) {
    std::vector<Named> parts = parts_of(step.call);
    if (parts.empty()) {
      steps.push_back(std::move(step));
      continue;
    }
    for (auto& [name, call] : parts) {
      plan::Step part = step;
      part.name += "." + name;
      part.call = std::move(call);
      steps.push_back(std::move(part));
    }
  }
  plan.steps = std::move(steps);
}

}  // namespace

void unfuse_attention(plan::Plan& plan) {
  const bool compiled = plan.runtime == plan::Runtime::Inductor;
  replace(plan, [compiled](const library::Call& call) {
    const auto* attention = std::get_if<library::AttentionCall>(&call);
    return attention == nullptr ? std::vector<Named>{} : attention_parts(*attention, compiled);
  });
}

void unfuse_gelu(plan::Plan& plan) {
  replace(plan, [](const library::Call& call) {
    const auto* rows = std::get_if<library::RowsCall>(&call);
    return rows == nullptr || rows->op != "gelu_tanh" ? std::vector<Named>{} : gelu_parts(*rows);
  });
}

}  // namespace orrery::validate
