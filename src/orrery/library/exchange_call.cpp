// Calls of expert parallelism: their names, texts and sizes.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/exchange_call.h"

#include <fmt/format.h>

namespace orrery::library {

std::string_view name(ExchangePhase phase) {
  return phase == ExchangePhase::Dispatch ? "moe_dispatch" : "moe_combine";
}

double distinct_ranks(int64_t experts, int64_t topk, int64_t gpus) {
  const int64_t elsewhere = experts - experts / gpus;
  double none = 1;  // of a rank's experts are among the topk, drawn one after the other
  for (int64_t i = 0; i < topk && none > 0; ++i) {
    none *= static_cast<double>(elsewhere - i) / static_cast<double>(experts - i);
  }
  return static_cast<double>(gpus) * (1 - none);
}

std::string text_of(const ExpertExchangeCall& c) {
  return fmt::format("{} tokens={} hidden={} experts={} topk={} gpus={} dtype={}{}{}",
                     name(c.phase),
                     c.tokens,
                     c.hidden,
                     c.experts,
                     c.topk,
                     c.gpus,
                     name(c.dtype),
                     c.sms == 0 ? "" : fmt::format(" sms={}", c.sms),
                     c.backend.empty() ? "" : " backend=" + c.backend);
}

std::vector<std::pair<std::string_view, int64_t>> positive_sizes(const ExpertExchangeCall& c) {
  return {{"tokens", c.tokens},
          {"hidden", c.hidden},
          {"experts", c.experts},
          {"topk", c.topk},
          {"gpus", c.gpus}};
}

}  // namespace orrery::library
