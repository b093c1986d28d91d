// Estimates: names of bounds and evidence, and the choice among candidates.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/plan/estimate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "orrery/base/check.h"

namespace orrery::plan {
namespace {

// Terms of one name are one term: what launching, DRAM ... take in all kernels together.
void add_terms(std::vector<Term>& total, const std::vector<Term>& terms) {
  for (const Term& term : terms) {
    const auto same = std::find_if(
        total.begin(), total.end(), [&](const Term& other) { return other.name == term.name; });
    if (same != total.end()) {
      same->time += term.time;
    } else {
      total.push_back(term);
    }
  }
}

// The time of kernels that run one after the other: times add, and so do the bounds of fully
// correlated errors.
Estimate sum(const std::vector<kernel::Profile>& sequence,
             const Estimator& estimator,
             const Conditions& conditions) {
  if (sequence.size() == 1) {
    return estimator.time(sequence.front(), conditions);
  }
  Estimate total;
  Duration longest = Duration::zero();
  for (const Estimate& one : each_of(sequence, estimator, conditions)) {
    total.time += one.time;
    total.low += one.low;
    total.high += one.high;
    total.dram += one.dram;
    if (one.time >= longest) {
      longest = one.time;
      total.bound = one.bound;
      total.evidence = one.evidence;
    }
    add_terms(total.terms, one.terms);
    total.warnings.insert(total.warnings.end(), one.warnings.begin(), one.warnings.end());
  }
  return total;
}

}  // namespace

std::string_view name(Bound bound) {
  switch (bound) {
    case Bound::Tensor:
      return "tensor";
    case Bound::Vector:
      return "vector";
    case Bound::Special:
      return "special";
    case Bound::Shared:
      return "shared";
    case Bound::L2:
      return "L2";
    case Bound::Dram:
      return "DRAM";
    case Bound::Link:
      return "link";
    case Bound::Latency:
      return "latency";
    case Bound::Launch:
      return "launch";
    case Bound::Issue:
      return "issue";
    case Bound::Clock:
      return "clock";
  }
  ORR_UNREACHABLE();
}

std::string_view name(Evidence evidence) {
  switch (evidence) {
    case Evidence::Analytic:
      return "analytic";
    case Evidence::Simulated:
      return "simulated";
    case Evidence::Interpolated:
      return "interpolated";
    case Evidence::Measured:
      return "measured";
  }
  ORR_UNREACHABLE();
}

std::vector<Estimate> each_of(const std::vector<kernel::Profile>& sequence,
                              const Estimator& estimator,
                              const Conditions& conditions) {
  std::vector<Estimate> each;
  each.reserve(sequence.size());
  Conditions here = conditions;
  for (const auto& profile : sequence) {
    each.push_back(estimator.time(profile, here));
    here.activations = CacheState::Warm;  // the next kernel reads what this one wrote
  }
  return each;
}

Choice choose(const std::vector<std::vector<kernel::Profile>>& candidates,
              const Estimator& estimator,
              const Conditions& conditions) {
  ORR_CHECK(!candidates.empty()) << "a choice needs a candidate";
  Choice choice;
  std::vector<double> seconds;
  seconds.reserve(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    Estimate estimate = sum(candidates[i], estimator, conditions);
    seconds.push_back(estimate.time.seconds().value());
    if (i == 0 || estimate.time < choice.estimate.time) {
      choice = {i, std::move(estimate)};
    }
  }
  if (candidates.size() == 1) {
    return choice;
  }
  // Of n candidates whose times are each uncertain by e, the fastest by prediction is too fast by
  // prediction: its own error helped it to win. What is really taken is some candidate that is
  // about as fast; its expected time is the mean over candidates, each weighted by how likely it
  // beats the best predicted one, exp(-ln(t / t_best) / e).
  const double best = seconds[choice.index];
  const double spread = std::max(
      1e-3,
      (choice.estimate.high.seconds().value() / best - 1) / 1.2816);  // 80 % interval -> sigma
  double weights = 0;
  double mean = 0;
  for (const double time : seconds) {
    const double excess = std::log(time / best) / spread;
    const double weight = std::exp(-excess);
    weights += weight;
    mean += weight * (time / best);
  }
  // Which candidate it is, is about as uncertain as the time of each.
  const double correction = std::min(mean / weights, 1 + spread);
  const double error = (choice.estimate.high.seconds().value() / best - 1) * std::numbers::sqrt2;
  choice.estimate.time = choice.estimate.time * correction;
  choice.estimate.low = choice.estimate.time / (1 + error);
  choice.estimate.high = choice.estimate.time * (1 + error);
  return choice;
}

}  // namespace orrery::plan
