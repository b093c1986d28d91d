// Typical counts of a uniform routing.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/expert_rows.h"

#include <algorithm>
#include <cmath>
#include <functional>

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

}  // namespace

std::vector<int64_t> expert_rows(int64_t tokens, int64_t experts, int64_t topk) {
  if (topk >= experts) {
    return std::vector<int64_t>(static_cast<size_t>(experts), tokens);
  }
  const double p = static_cast<double>(topk) / static_cast<double>(experts);
  std::vector<int64_t> rows = quantiles(tokens, experts, p);
  std::reverse(rows.begin(), rows.end());
  int64_t left = tokens * topk;
  for (const int64_t row : rows) {
    left -= row;
  }
  // What rounding left over goes to, or comes from, the middle outwards of those that can.
  for (size_t i = 0; left != 0; i = (i + 1) % rows.size()) {
    const size_t at = (rows.size() / 2 + i) % rows.size();
    if (left > 0 && rows[at] < tokens) {
      ++rows[at];
      --left;
    } else if (left < 0 && rows[at] > 0) {
      --rows[at];
      ++left;
    }
  }
  std::sort(rows.begin(), rows.end(), std::greater<>());
  return rows;
}

}  // namespace orrery::passes
