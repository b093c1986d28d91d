// Predictions with everything a report says about them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/plan/plan.h"
#include "orrery/plan/timing.h"

namespace orrery::report {

/// On what and with what a prediction was made.
struct Setting {
  std::string machine;  // id
  std::string machine_title;
  std::string library;  // id
  std::string library_version;
  std::string clock;  // burst, steady or mixed
};

/// Whether the program fits into the machine's memory.
struct Fit {
  Bytes capacity;     // of the machine
  double usable = 1;  // share that the program may use
  bool fits = true;
  int64_t largest_batch = 0;  // with which it would fit; 0: with none
};

/// A step of a model.
struct ModelPrediction {
  std::string model;
  std::string phase;
  std::vector<std::pair<std::string, int64_t>> sizes;  // batch, seq or context
  int64_t layers = 0;
  double tokens = 0;  // that a step makes (decode) or reads (prefill)
  Setting setting;
  Fit fit;
  plan::Plan plan;
  plan::PlanTime time;
};

/// One call.
struct CallPrediction {
  library::Call call;
  plan::Conditions conditions;
  Setting setting;
  plan::StepTime time;
};

}  // namespace orrery::report
