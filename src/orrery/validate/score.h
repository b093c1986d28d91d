// Scores: how far predictions lie from measurements, per family of rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/plan/estimate.h"

namespace orrery::validate {

/// One predicted row beside its measurement.
struct Compared {
  std::string family;
  Duration measured;
  Duration predicted;
  Duration low;
  Duration high;
  size_t row = 0;           // of the table
  std::string choice = {};  // rows of one are ways to do the same (ranking.h)
};

/// Errors are relative to the measurement: predicted / measured - 1. All fractions, not percent.
struct Score {
  std::string family;
  int64_t rows = 0;
  double mean = 0;      // of the absolute error (MAPE)
  double median = 0;    // of the absolute error
  double p90 = 0;       // nine rows of ten are not worse
  double bias = 0;      // mean of the signed error: > 0 predicts too long
  double hit_rate = 0;  // of the measured times inside [low, high]; 0.8 is what the interval claims
  double width = 0;     // median of (high - low) / predicted
};

/// A score per family, in the order of first appearance, and one over all called "all" if there are
/// several.
std::vector<Score> scores(const std::vector<Compared>& rows);

}  // namespace orrery::validate
