// Rows per expert of balanced and power-law routing.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/expert_routing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

namespace orrery::validate {
namespace {

constexpr int kShuffles = 8;

Routed balanced(const RoutedLayer& layer) {
  const int64_t held = layer.experts / layer.gpus;
  const int64_t stride = (layer.experts + layer.topk - 1) / layer.topk;
  Routed routed{std::vector<int64_t>(static_cast<size_t>(held), 0), 0};
  for (int64_t token = 0; token < layer.tokens; ++token) {
    const int64_t first =
        layer.tokens >= stride ? token % layer.experts : token * stride / layer.tokens;
    bool reaches = false;
    for (int64_t i = 0; i < layer.topk; ++i) {
      const int64_t expert = (first + i * stride) % layer.experts;
      if (expert < held) {
        ++routed.rows[static_cast<size_t>(expert)];
        reaches = true;
      }
    }
    routed.tokens += reaches ? 1 : 0;
  }
  return routed;
}

/// Quantiles of the density x^-alpha on [least, most], scaled to rows, most first; a row a token.
std::vector<int64_t> shares(const RoutedLayer& layer, double alpha) {
  const bool crowded = layer.tokens * layer.topk > layer.experts;
  const double least = crowded ? 1 : 0.01;
  const double most = crowded ? 0.8 * static_cast<double>(layer.tokens) : 2;
  const auto experts = static_cast<double>(layer.experts);
  std::vector<double> values(static_cast<size_t>(layer.experts));
  const double low = std::pow(least, 1 - alpha);
  const double high = std::pow(most, 1 - alpha);
  for (size_t i = 0; i < values.size(); ++i) {
    const double u = 1 - (static_cast<double>(i) + 0.5) / experts;
    values[i] = std::pow((high - low) * u + low, 1 / (1 - alpha));
  }
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  std::vector<int64_t> rows(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double share = values[i] / sum * static_cast<double>(layer.tokens * layer.topk);
    rows[i] = std::min(layer.tokens, static_cast<int64_t>(std::nearbyint(share)));
  }
  std::sort(rows.begin(), rows.end(), std::greater<>());
  return rows;
}

/// Adds `missing` rows, each to the experts that have fewest.
void raise(std::vector<int64_t>& rows, int64_t missing, int64_t most) {
  for (int64_t level = 0; missing > 0 && level < most; ++level) {
    for (auto at = rows.rbegin(); at != rows.rend() && missing > 0; ++at) {
      if (*at == level) {
        ++*at;
        --missing;
      }
    }
  }
}

/// Takes `over` rows away, each from the experts that have most.
void lower(std::vector<int64_t>& rows, int64_t over) {
  for (int64_t level = rows.front(); over > 0 && level > 0; --level) {
    for (auto at = rows.begin(); at != rows.end() && over > 0; ++at) {
      if (*at == level) {
        --*at;
        --over;
      }
    }
  }
}

/// The experts of the GPU with most rows after a shuffle; of the first one where what is `left`
/// over fills its experts.
std::vector<int64_t> busiest(std::vector<int64_t> rows,
                             const RoutedLayer& layer,
                             int64_t left,
                             std::mt19937& random) {
  for (size_t i = rows.size() - 1; i > 0; --i) {
    std::swap(rows[i], rows[random() % (i + 1)]);
  }
  const auto held = static_cast<size_t>(layer.experts / layer.gpus);
  std::vector<int64_t> most;
  int64_t sum = -1;
  for (size_t gpu = 0; gpu < static_cast<size_t>(layer.gpus); ++gpu) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(gpu * held);
    std::vector<int64_t> own(begin, begin + static_cast<std::ptrdiff_t>(held));
    std::sort(own.begin(), own.end(), std::greater<>());
    if (gpu == 0 && left > 0) {
      raise(own, left, std::min<int64_t>(layer.tokens, 1));
    }
    if (const int64_t all = std::accumulate(own.begin(), own.end(), int64_t{0}); all > sum) {
      sum = all;
      most = std::move(own);
    }
  }
  return most;
}

Routed power_law(const RoutedLayer& layer, double alpha) {
  std::vector<int64_t> rows = shares(layer, alpha);
  const int64_t missing =
      layer.tokens * layer.topk - std::accumulate(rows.begin(), rows.end(), int64_t{0});
  const bool fill_first = layer.fill_first && layer.gpus > 1 && missing > 0;
  if (missing > 0 && !fill_first) {
    raise(rows, missing, layer.tokens);
  } else if (missing < 0) {
    lower(rows, -missing);
  }
  if (layer.gpus == 1) {
    return {std::move(rows), layer.tokens};
  }
  std::mt19937 random(1);
  std::vector<int64_t> sums(static_cast<size_t>(layer.experts / layer.gpus), 0);
  for (int shuffle = 0; shuffle < kShuffles; ++shuffle) {
    const auto own = busiest(rows, layer, fill_first ? missing : 0, random);
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] += own[i];
    }
  }
  Routed routed;
  double none = 1;  // share of tokens that reach none of the experts
  for (const int64_t sum : sums) {
    routed.rows.push_back((sum + kShuffles / 2) / kShuffles);
    none *=
        1 -
        std::min(1.0, static_cast<double>(routed.rows.back()) / static_cast<double>(layer.tokens));
  }
  const auto reach =
      static_cast<int64_t>(std::llround(static_cast<double>(layer.tokens) * (1 - none)));
  routed.tokens = std::min(layer.tokens, std::max(routed.rows.front(), reach));
  return routed;
}

}  // namespace

Result<Routed> route(const RoutedLayer& layer) {
  if (layer.gpus < 1 || layer.experts % layer.gpus != 0 || layer.topk > layer.experts) {
    return make_error(ErrorCode::InvalidInput,
                      "[validate.routing] experts: got {} over {} GPUs, {} a token; need an equal "
                      "share each and no fewer than a token takes",
                      layer.experts,
                      layer.gpus,
                      layer.topk);
  }
  if (layer.distribution == "balanced") {
    return balanced(layer);
  }
  constexpr std::string_view kPowerLaw = "power_law_";
  if (layer.distribution.rfind(kPowerLaw, 0) == 0) {
    const std::string text(layer.distribution.substr(kPowerLaw.size()));
    char* end = nullptr;
    const double alpha = std::strtod(text.c_str(), &end);
    if (end != text.c_str() && *end == '\0' && alpha > 1 && alpha < 10) {
      return power_law(layer, alpha);
    }
  }
  return make_error(ErrorCode::InvalidInput,
                    "[validate.routing] distribution: got '{}', need balanced or power_law_ and an "
                    "exponent above 1",
                    layer.distribution);
}

}  // namespace orrery::validate
