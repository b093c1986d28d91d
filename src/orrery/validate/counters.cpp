// Counters: of a profile and its time, and their scores.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/counters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "orrery/base/text.h"

namespace orrery::validate {

namespace {

constexpr std::array<std::string_view, 11> kCounters = {
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "lts__t_sector_hit_rate.pct",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "gpu__time_duration.sum",
    "launch__block_size",
    "launch__grid_size",
    "launch__cluster_size",
    "launch__occupancy_per_sm"};

Result<std::optional<double>> number_in(const Fields& row, std::string_view column) {
  const std::string_view text = trim(row.text(column));
  if (text.empty()) {
    return std::optional<double>{};
  }
  const auto value = parse_double(text);
  if (!value || !std::isfinite(*value) || *value < 0) {
    return make_error(ErrorCode::InvalidInput,
                      "[validate.counters] {}: got '{}', need a count or nothing",
                      column,
                      text);
  }
  return std::optional(*value);
}

double error_of(const CountedRow& row) {
  if (row.counter.find(".pct") != std::string::npos) {
    return (row.predicted - row.measured) / 100;
  }
  return row.measured > 0 ? row.predicted / row.measured - 1 : (row.predicted > 0 ? 1 : 0);
}

CounterScore score_of(const std::vector<const CountedRow*>& rows) {
  constexpr double kEqual = 1e-3;
  CounterScore score;
  score.family = rows.front()->family;
  score.counter = rows.front()->counter;
  score.rows = static_cast<int64_t>(rows.size());
  std::vector<double> errors;
  for (const CountedRow* row : rows) {
    const double error = error_of(*row);
    score.equal += std::abs(error) <= kEqual ? 1 : 0;
    score.mean += std::abs(error) / static_cast<double>(rows.size());
    score.bias += error / static_cast<double>(rows.size());
    errors.push_back(std::abs(error));
  }
  std::sort(errors.begin(), errors.end());
  const size_t middle = errors.size() / 2;
  score.median =
      errors.size() % 2 == 1 ? errors[middle] : (errors[middle - 1] + errors[middle]) / 2;
  return score;
}

}  // namespace

std::vector<std::string_view> counter_columns() {
  return {kCounters.begin(), kCounters.end()};
}

Result<std::optional<double>> measured_counter(const Fields& row, std::string_view counter) {
  if (counter == "launch__occupancy_per_sm") {
    ORR_TRY(const auto registers, number_in(row, "launch__occupancy_limit_registers"));
    ORR_TRY(const auto shared, number_in(row, "launch__occupancy_limit_shared_mem"));
    return registers && shared ? std::optional(std::min(*registers, *shared)) : std::nullopt;
  }
  ORR_TRY(auto value, number_in(row, counter));
  if (value && counter == "launch__cluster_size") {
    value = std::max(1.0, *value);  // 0: launched without clusters
  }
  return value;
}

std::vector<CounterScore> counter_scores(const std::vector<CountedRow>& rows) {
  std::vector<std::vector<const CountedRow*>> groups;
  for (const CountedRow& row : rows) {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.front()->family == row.family && group.front()->counter == row.counter;
    });
    if (found != groups.end()) {
      found->push_back(&row);
    } else {
      groups.push_back({&row});
    }
  }
  std::vector<CounterScore> scores;
  scores.reserve(groups.size());
  for (const auto& group : groups) {
    scores.push_back(score_of(group));
  }
  return scores;
}

}  // namespace orrery::validate
