// Rankings.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/ranking.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace orrery::validate {

namespace {

/// Each value's rank from 0; equal ones share the mean of theirs.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) {
      ++end;
    }
    const double mean = static_cast<double>(begin + end - 1) / 2;
    for (; begin < end; ++begin) {
      result[order[begin]] = mean;
    }
  }
  return result;
}

/// Spearman's: the correlation of ranks; 0 where either side is constant.
double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const std::vector<double> a = ranks(x);
  const std::vector<double> b = ranks(y);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double both = 0;
  double of_a = 0;
  double of_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean) * (b[i] - mean);
    of_a += (a[i] - mean) * (a[i] - mean);
    of_b += (b[i] - mean) * (b[i] - mean);
  }
  return of_a > 0 && of_b > 0 ? both / std::sqrt(of_a * of_b) : 0;
}

Ranking ranking_of(const std::vector<const Compared*>& rows) {
  constexpr size_t kFew = 5;
  std::vector<double> measured;
  std::vector<double> predicted;
  for (const Compared* row : rows) {
    measured.push_back(row->measured.microseconds());
    predicted.push_back(row->predicted.microseconds());
  }
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(
      order.begin(), order.end(), [&](size_t a, size_t b) { return predicted[a] < predicted[b]; });
  double few = measured[order.front()];
  for (size_t i = 0; i < std::min(kFew, order.size()); ++i) {
    few = std::min(few, measured[order[i]]);
  }
  const double least = *std::min_element(measured.begin(), measured.end());
  return {.family = rows.front()->family,
          .choice = rows.front()->choice,
          .rows = static_cast<int64_t>(rows.size()),
          .correlation = correlation(predicted, measured),
          .first = least / measured[order.front()],
          .of_five = least / few};
}

RankingSum sum_of(const std::string& family, const std::vector<const Ranking*>& all) {
  const auto count = static_cast<double>(all.size());
  RankingSum sum;
  sum.family = family;
  sum.choices = static_cast<int64_t>(all.size());
  double first = 0;
  double few = 0;
  for (const Ranking* each : all) {
    sum.correlation += each->correlation / count;
    first += std::log(each->first) / count;
    few += std::log(each->of_five) / count;
    sum.worst_first = std::min(sum.worst_first, each->first);
    sum.worst_of_five = std::min(sum.worst_of_five, each->of_five);
  }
  sum.first = std::exp(first);
  sum.of_five = std::exp(few);
  return sum;
}

}  // namespace

std::vector<Ranking> rankings(const std::vector<Compared>& rows) {
  std::vector<std::vector<const Compared*>> groups;
  for (const Compared& row : rows) {
    if (row.choice.empty()) {
      continue;
    }
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.front()->choice == row.choice && group.front()->family == row.family;
    });
    if (found != groups.end()) {
      found->push_back(&row);
    } else {
      groups.push_back({&row});
    }
  }
  std::vector<Ranking> result;
  for (const auto& group : groups) {
    if (group.size() > 1) {
      result.push_back(ranking_of(group));
    }
  }
  return result;
}

std::vector<RankingSum> sum_up(const std::vector<Ranking>& rankings) {
  std::vector<std::pair<std::string, std::vector<const Ranking*>>> families;
  std::vector<const Ranking*> all;
  for (const Ranking& each : rankings) {
    const auto found = std::find_if(families.begin(), families.end(), [&](const auto& family) {
      return family.first == each.family;
    });
    if (found != families.end()) {
      found->second.push_back(&each);
    } else {
      families.push_back({each.family, {&each}});
    }
    all.push_back(&each);
  }
  std::vector<RankingSum> result;
  for (const auto& [family, rows] : families) {
    result.push_back(sum_of(family, rows));
  }
  if (families.size() > 1) {
    result.push_back(sum_of("all", all));
  }
  return result;
}

}  // namespace orrery::validate
