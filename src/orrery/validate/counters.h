// Counters: what a kernel does, predicted, beside what hardware counters say.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/device/counters.h"
#include "orrery/validate/fields.h"

namespace orrery::validate {

struct Setup;

/// A counter of a row, in the words of Nsight Compute.
struct CountedRow {
  std::string family;
  std::string counter;
  double measured = 0;
  double predicted = 0;
  size_t row = 0;  // of the table
};

/// Errors are relative to the measurement; those of percentages are points, as fractions.
struct CounterScore {
  std::string family;
  std::string counter;
  int64_t rows = 0;
  int64_t equal = 0;  // within a thousandth
  double mean = 0;    // of the absolute error
  double median = 0;
  double bias = 0;
};

/// By family and counter, in the order of first appearance.
std::vector<CounterScore> counter_scores(const std::vector<CountedRow>& rows);

/// The counters that are compared: columns of a table, and, of occupancy, the least of the limits.
std::vector<std::string_view> counter_columns();

/// The value measured; none where the cell is empty.
Result<std::optional<double>> measured_counter(const Fields& row, std::string_view counter);

/// Of a row of counters.csv: the kernel that its operator launches at its place, run once with cold
/// caches. A simulator counts for itself; of other estimators what the profile and the time say.
Result<std::vector<device::Counter>> predict_counters(const Fields& row, const Setup& setup);

}  // namespace orrery::validate
