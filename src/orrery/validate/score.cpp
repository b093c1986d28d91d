// Scores of predictions.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/score.h"

#include <algorithm>
#include <cmath>

namespace orrery::validate {

namespace {

/// The value below which `share` of the sorted values lie, interpolated between neighbours.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

Score score(const std::string& family, const std::vector<const Compared*>& rows) {
  Score result;
  result.family = family;
  result.rows = static_cast<int64_t>(rows.size());
  std::vector<double> errors;
  std::vector<double> widths;
  for (const Compared* row : rows) {
    const double error = row->predicted / row->measured - 1;
    const bool hit = row->low <= row->measured && row->measured <= row->high;
    errors.push_back(std::abs(error));
    widths.push_back((row->high - row->low) / row->predicted);
    result.mean += std::abs(error) / static_cast<double>(rows.size());
    result.bias += error / static_cast<double>(rows.size());
    result.hit_rate += (hit ? 1.0 : 0.0) / static_cast<double>(rows.size());
  }
  result.median = quantile(errors, 0.5);
  result.p90 = quantile(errors, 0.9);
  result.width = quantile(widths, 0.5);
  return result;
}

}  // namespace

std::vector<Score> scores(const std::vector<Compared>& rows) {
  std::vector<std::string> families;
  std::vector<const Compared*> all;
  for (const Compared& row : rows) {
    all.push_back(&row);
    if (std::find(families.begin(), families.end(), row.family) == families.end()) {
      families.push_back(row.family);
    }
  }
  std::vector<Score> result;
  for (const std::string& family : families) {
    std::vector<const Compared*> members;
    std::copy_if(
        all.begin(), all.end(), std::back_inserter(members), [&family](const Compared* row) {
          return row->family == family;
        });
    result.push_back(score(family, members));
  }
  if (families.size() > 1) {
    result.push_back(score("all", all));
  }
  return result;
}

}  // namespace orrery::validate
