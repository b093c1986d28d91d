// Comparisons: one step of a model on several machines, side by side.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/report/predict_report.h"
#include "orrery/report/prediction.h"

namespace orrery::report {

struct Compared {
  std::string machine;  // id
  Result<ModelPrediction> prediction;
};

struct Comparison {
  std::vector<Compared> machines;  // at least one predicted
};

/// Does the model fit into the memory of any machine?
bool any_fits(const Comparison& comparison);

/// A column per machine: time, speed, memory, and every kind of operator.
std::string to_text(const Comparison& comparison);
/// A line per machine.
std::string to_csv(const Comparison& comparison);
/// Schema orrery.comparison/1.
std::string to_json(const Comparison& comparison, Detail detail);

}  // namespace orrery::report
