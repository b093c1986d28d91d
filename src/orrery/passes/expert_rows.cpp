// Typical counts of uniform and of skewed routings.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/expert_rows.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace orrery::passes {

namespace {

/// log of the binomial probability of `count` in `trials` with chance `p`.
double log_mass(double trials, double count, double p) {
  return std::lgamma(trials + 1) - std::lgamma(count + 1) - std::lgamma(trials - count + 1) +
         count * std::log(p) + (trials - count) * std::log1p(-p);
}

/// Counts at the quantiles of (i + 1/2) / experts, smallest first.
std::vector<int64_t> quantiles(int64_t tokens, int64_t experts, double p) {
  const auto trials = static_cast<double>(tokens);
  const double spread = std::sqrt(trials * p * (1 - p));
  // Beyond ten deviations there is nothing left to find.
  auto count = static_cast<int64_t>(std::max(0.0, std::floor(trials * p - 10 * spread - 10)));
  double mass = std::exp(log_mass(trials, static_cast<double>(count), p));
  double below = 0;
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < experts; ++i) {
    const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(experts);
    while (count < tokens && below + mass < at) {
      below += mass;
      mass *= (trials - static_cast<double>(count)) / static_cast<double>(count + 1) * p / (1 - p);
      ++count;
    }
    rows.push_back(count);
  }
  return rows;
}

/// Moves what `rows` have too much or too little to or from the middle ones that can give or take,
/// outwards; none gets more than `most`.
void settle(std::vector<int64_t>& rows, int64_t left, int64_t most) {
  for (size_t i = 0; left != 0; i = (i + 1) % rows.size()) {
    const size_t at = (rows.size() / 2 + i) % rows.size();
    if (left > 0 && rows[at] < most) {
      ++rows[at];
      --left;
    } else if (left < 0 && rows[at] > 0) {
      --rows[at];
      ++left;
    }
  }
  std::sort(rows.begin(), rows.end(), std::greater<>());
}

int64_t sum_of(const std::vector<int64_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), int64_t{0});
}

/// 1 / r^exponent for every rank r.
std::vector<double> power_law(int64_t experts, double exponent) {
  std::vector<double> weights(static_cast<size_t>(experts));
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = std::pow(static_cast<double>(i + 1), -exponent);
  }
  return weights;
}

/// Expected rows, none above the number of tokens.
std::vector<double> shares(const Routing& routing, const std::vector<double>& weights) {
  const auto most = static_cast<double>(routing.tokens);
  std::vector<double> share(weights.size(), 0.0);
  double left = most * static_cast<double>(routing.topk);
  for (size_t full = 0; full < weights.size(); ++full) {
    const double sum =
        std::accumulate(weights.begin() + static_cast<std::ptrdiff_t>(full), weights.end(), 0.0);
    if (left * weights[full] / sum <= most) {
      for (size_t i = full; i < weights.size(); ++i) {
        share[i] = left * weights[i] / sum;
      }
      break;
    }
    share[full] = most;
    left -= most;
  }
  return share;
}

/// The quantile of a normal distribution, by halving.
double normal_quantile(double share) {
  double low = -8;
  double high = 8;
  constexpr int kSteps = 60;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// Rows of the busiest of `ranks` GPUs.
double busiest_sum(const std::vector<int64_t>& rows, int64_t ranks) {
  const auto experts = static_cast<double>(rows.size());
  const double held = experts / static_cast<double>(ranks);
  const double mean = static_cast<double>(sum_of(rows)) / experts;
  double variance = 0;
  for (const int64_t row : rows) {
    variance += (static_cast<double>(row) - mean) * (static_cast<double>(row) - mean) / experts;
  }
  const double share = 1 - 0.5 / static_cast<double>(ranks);
  const double spread = std::sqrt(held * (1 - held / experts) * variance);
  const auto top = static_cast<double>(rows.front());
  const double rest = experts < 2 ? 0 : (mean * experts - top) / (experts - 1);
  return std::max(held * mean + normal_quantile(share) * spread, top + (held - 1) * rest);
}

}  // namespace

std::vector<int64_t> expert_rows(const Routing& routing) {
  if (routing.topk >= routing.experts) {
    return std::vector<int64_t>(static_cast<size_t>(routing.experts), routing.tokens);
  }
  const double p = static_cast<double>(routing.topk) / static_cast<double>(routing.experts);
  std::vector<int64_t> rows = quantiles(routing.tokens, routing.experts, p);
  std::reverse(rows.begin(), rows.end());
  settle(rows, routing.tokens * routing.topk - sum_of(rows), routing.tokens);
  return rows;
}

std::vector<int64_t> zipf_rows(const Routing& routing, double exponent) {
  const std::vector<double> share = shares(routing, power_law(routing.experts, exponent));
  std::vector<int64_t> rows(share.size());
  double cumulative = 0;
  int64_t given = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    cumulative += share[i];
    const auto upto = static_cast<int64_t>(std::llround(cumulative));
    rows[i] = upto - given;
    given = upto;
  }
  return rows;
}

Result<std::vector<int64_t>> skewed_rows(const Routing& routing, double imbalance) {
  const auto experts = static_cast<double>(routing.experts);
  const double most = experts / static_cast<double>(routing.topk);
  if (!(imbalance >= 1) || imbalance > most) {
    return make_error(ErrorCode::InvalidInput,
                      "[passes.experts] imbalance: got {}, need 1 to {} ({} of {} experts a token)",
                      imbalance,
                      most,
                      routing.topk,
                      routing.experts);
  }
  constexpr double kSteepest = 64;
  double low = 0;
  double high = kSteepest;
  constexpr int kSteps = 60;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    const std::vector<double> weights = power_law(routing.experts, middle);
    const double top = experts / std::accumulate(weights.begin(), weights.end(), 0.0);
    (top < imbalance ? low : high) = middle;
  }
  return zipf_rows(routing, low);
}

std::vector<int64_t> busiest_rank(const std::vector<int64_t>& rows, int64_t ranks) {
  const size_t held = rows.size() / static_cast<size_t>(ranks);
  if (ranks <= 1 || held == 0) {
    return rows;
  }
  std::vector<int64_t> all = rows;
  std::sort(all.begin(), all.end(), std::greater<>());
  const double wanted = busiest_sum(all, ranks);
  std::vector<int64_t> own;
  for (size_t i = 0; i < held; ++i) {  // one of each hand of so many as there are GPUs
    own.push_back(all[i * static_cast<size_t>(ranks) + static_cast<size_t>(ranks) / 2]);
  }
  const auto total = static_cast<int64_t>(std::llround(wanted));
  const auto typical = static_cast<double>(sum_of(own));
  int64_t most = all.front();
  if (typical > 0) {
    for (int64_t& row : own) {
      row = std::min(most,
                     static_cast<int64_t>(std::floor(static_cast<double>(row) * wanted / typical)));
    }
  }
  most = std::max(most, (total + static_cast<int64_t>(held) - 1) / static_cast<int64_t>(held));
  settle(own, total - sum_of(own), most);
  return own;
}

}  // namespace orrery::passes
