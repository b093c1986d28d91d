// How published measurements of expert layers deal tokens to experts: rows of the first GPU's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"

namespace orrery::validate {

/// Tokens that go to topk of `experts`, of which each of `gpus` holds an equal share.
struct RoutedLayer {
  int64_t tokens = 0;
  int64_t experts = 0;
  int64_t topk = 1;
  int64_t gpus = 1;
  std::string_view distribution;  // "balanced", "power_law_1.2", "power_law_sampled_1.9" ...
  bool fill_first = false;  // what rounding leaves over goes to the first GPU's experts (collectors
                            // of vLLM 0.14)
};

/// Rows of the experts that the first GPU holds, and how many tokens reach it.
struct Routed {
  std::vector<int64_t> rows;
  int64_t tokens = 0;
};

/// The rule of aiconfigurator's collectors (collector/helper.py): balanced deals token t to experts
/// t + i ceil(experts / topk); a power law draws every expert's share from the density x^-alpha, at
/// most a row a token, and measures the GPU with most rows. Draws are replaced by quantiles and the
/// deal of experts to GPUs by the mean over eight fixed shuffles. Sampled, every token draws its
/// experts by such weights, so few tokens meet fewer experts. Error InvalidInput: another
/// distribution, or experts that the GPUs cannot share.
Result<Routed> route(const RoutedLayer& layer);

}  // namespace orrery::validate
