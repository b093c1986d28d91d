// Rows per expert of balanced and power-law routing.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/expert_routing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>

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

/// Middle quantiles of the density x^-alpha on an interval, the largest first.
std::vector<double> quantiles(std::pair<double, double> interval, double alpha, int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  const double low = std::pow(interval.first, 1 - alpha);
  const double high = std::pow(interval.second, 1 - alpha);
  for (size_t i = 0; i < values.size(); ++i) {
    const double u = 1 - (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    values[i] = std::pow((high - low) * u + low, 1 / (1 - alpha));
  }
  return values;
}

/// Quantiles of the density x^-alpha, scaled to rows, most first; a row a token.
std::vector<int64_t> shares(const RoutedLayer& layer, double alpha) {
  const bool crowded = layer.tokens * layer.topk > layer.experts;
  const double least = crowded ? 1 : 0.01;
  const double most = crowded ? 0.8 * static_cast<double>(layer.tokens) : 2;
  const std::vector<double> values = quantiles({least, most}, alpha, layer.experts);
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

/// Rows of all experts, most first, to those of the GPU with most of them. `left`: over from
/// rounding, for the first GPU.
Routed dealt(const RoutedLayer& layer, std::vector<int64_t> rows, int64_t left) {
  if (layer.gpus == 1) {
    return {std::move(rows), layer.tokens};
  }
  std::mt19937 random(1);
  std::vector<int64_t> sums(static_cast<size_t>(layer.experts / layer.gpus), 0);
  for (int shuffle = 0; shuffle < kShuffles; ++shuffle) {
    const auto own = busiest(rows, layer, left, random);
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
  return dealt(layer, std::move(rows), fill_first ? missing : 0);
}

/// How many of `tokens` take an expert that each takes with probability p: a binomial number, by
/// inversion where it is small, else its mean.
int64_t binomial(int64_t tokens, double p, double uniform) {
  const auto n = static_cast<double>(tokens);
  constexpr double kSmall = 64;
  if (n * p > kSmall || p >= 1) {
    return std::llround(n * std::min(p, 1.0));
  }
  double term = std::pow(1 - p, n);
  double below = term;
  int64_t count = 0;
  while (below < uniform && count < tokens) {
    term *= (n - static_cast<double>(count)) / static_cast<double>(count + 1) * p / (1 - p);
    below += term;
    ++count;
  }
  return count;
}

/// Every token draws topk experts by weights of the density x^-alpha on [1, 1024]. An expert is
/// among the first topk of independent exponential times with 1 - exp(-rate weight), the rate such
/// that topk are expected.
Routed sampled_power_law(const RoutedLayer& layer, double alpha) {
  constexpr double kMost = 1024;
  const auto weights = quantiles({1, kMost}, alpha, layer.experts);
  const auto chance = [](double rate, double weight) { return 1 - std::exp(-rate * weight); };
  double low = 0;
  double high = 64;  // no weight is below 1: all experts are sure
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double rate = (low + high) / 2;
    double sum = 0;
    for (const double weight : weights) {
      sum += chance(rate, weight);
    }
    (sum < static_cast<double>(layer.topk) ? low : high) = rate;
  }
  std::mt19937 random(1);
  std::vector<int64_t> rows;
  for (const double weight : weights) {
    const double uniform = (static_cast<double>(random()) + 0.5) / 4294967296.0;
    rows.push_back(binomial(layer.tokens, chance(high, weight), uniform));
  }
  std::sort(rows.begin(), rows.end(), std::greater<>());
  return dealt(layer, std::move(rows), 0);
}

/// The exponent behind `prefix`; none if it is no number above 1.
std::optional<double> exponent_of(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return std::nullopt;
  }
  const std::string number(text.substr(prefix.size()));
  char* end = nullptr;
  const double alpha = std::strtod(number.c_str(), &end);
  const bool fits = end != number.c_str() && *end == '\0' && alpha > 1 && alpha < 10;
  return fits ? std::optional(alpha) : std::nullopt;
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
  if (const auto alpha = exponent_of(layer.distribution, "power_law_sampled_")) {
    return sampled_power_law(layer, *alpha);
  }
  if (const auto alpha = exponent_of(layer.distribution, "power_law_")) {
    return power_law(layer, *alpha);
  }
  return make_error(ErrorCode::InvalidInput,
                    "[validate.routing] distribution: got '{}', need balanced or power_law_ and an "
                    "exponent above 1",
                    layer.distribution);
}

}  // namespace orrery::validate
