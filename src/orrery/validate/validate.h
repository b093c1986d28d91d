// Validation: every row of a measured table predicted, and the predictions scored.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/validate/cases.h"
#include "orrery/validate/csv.h"
#include "orrery/validate/score.h"

namespace orrery::validate {

/// What is wrong with some rows.
struct RowError {
  std::string message;
  int64_t rows = 0;  // that have it
  size_t line = 0;   // of the first of them
};

struct Validation {
  std::string kind;  // of the table; empty: none that is known
  Table table;       // the input's rows, in order, with predicted_us, low_us, high_us, bound, error
  std::vector<Compared> compared;   // rows with a prediction and a measurement
  std::vector<CountedRow> counted;  // counters of rows with a prediction and a measurement
  int64_t predicted = 0;            // rows with a prediction
  std::vector<RowError> errors;     // each message once, in the order of their first rows
};

/// Predicts each row of `csv`. A row that cannot be predicted carries its error and the rest go on;
/// a table of no known kind has the same error in every row. Errors: text that is no CSV.
Result<Validation> validate_table(std::string_view csv,
                                  std::string_view origin,
                                  const Setup& setup);

}  // namespace orrery::validate
