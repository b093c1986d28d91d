// Calls of expert parallelism: tokens to the GPUs of their experts, and results back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/base/dtype.h"

namespace orrery::library {

// With expert parallelism each GPU (rank) holds experts / gpus of a layer's experts and its own
// tokens. Before the experts, each token goes to the ranks that hold one of its topk experts
// (dispatch); after them, their results come back and are summed (combine):
//
//     8 ranks, 256 experts, topk 8: a token's experts lie on 5.29 distinct ranks if all experts are
//     alike, so a rank sends 5.29 x 7/8 copies of each token over its link and gets as many.
//
// A kernel for few tokens sends one copy for each expert instead, laid out for the experts'
// product.

enum class ExchangePhase { Dispatch, Combine };

/// One phase, as each rank sees it. dtype is what crosses the link: fp8 (with an fp32 scale per
/// 128) or bf16 in dispatch, bf16 in combine. backend: "" (as "deepep"), "deepep",
/// "deepep-low-latency".
struct ExpertExchangeCall {
  ExchangePhase phase = ExchangePhase::Dispatch;
  int64_t tokens = 0;  // of one rank
  int64_t hidden = 0;
  int64_t experts = 0;  // of the layer, on all ranks together
  int64_t topk = 1;
  int64_t gpus = 8;
  DType dtype = DType::BF16;
  int64_t sms = 0;  // that the kernel takes; 0: as many as the library does
  std::string backend = {};
  bool operator==(const ExpertExchangeCall&) const = default;
};

/// moe_dispatch or moe_combine.
std::string_view name(ExchangePhase phase);

/// Ranks that hold at least one of a token's experts, expected where all experts are alike: of g
/// ranks with e experts each, g (1 - C(experts - e, topk) / C(experts, topk)).
double distinct_ranks(int64_t experts, int64_t topk, int64_t gpus);

std::string text_of(const ExpertExchangeCall& call);

/// A call's sizes by name, those that have to be at least 1.
std::vector<std::pair<std::string_view, int64_t>> positive_sizes(const ExpertExchangeCall& call);

}  // namespace orrery::library
