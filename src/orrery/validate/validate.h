// Validation: every row of a measured table predicted, and the predictions scored.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/validate/cases.h"
#include "orrery/validate/csv.h"
#include "orrery/validate/score.h"

namespace orrery::validate {

struct Validation {
  std::string kind;  // of the table; empty: none that is known
  Table table;       // the input's rows, in order, with predicted_us, low_us, high_us, bound, error
  std::vector<Compared> compared;                       // rows with a prediction and a measurement
  int64_t predicted = 0;                                // rows with a prediction
  std::vector<std::pair<std::string, int64_t>> errors;  // messages and how many rows have them
};

/// Predicts each row of `csv`. A row that cannot be predicted carries its error and the rest go on;
/// a table of no known kind has the same error in every row. Errors: text that is no CSV.
Result<Validation> validate_table(std::string_view csv,
                                  std::string_view origin,
                                  const Setup& setup);

}  // namespace orrery::validate
