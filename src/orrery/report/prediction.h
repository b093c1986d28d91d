// Predictions with everything a report says about them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

/// What a change of a call asks of its author, the cheapest first.
enum class Price {
  Layout,    // the same numbers in another order, or by another way
  Padding,   // a size is rounded up; what is too much is cut off
  Work,      // less at a time; counted per unit of work
  Accuracy,  // a smaller element type
};
std::string_view name(Price price);

/// A change that would make a call faster.
struct Help {
  std::string change;  // "n=4104 instead of 4100"
  Price price = Price::Padding;
  Duration time;        // with it
  double gain = 0;      // share of the time saved, per unit of work
  std::string kernels;  // that would run then, where they are others
};

/// What was tried to make a call faster, and the best of each price that helps, cheapest first.
struct Advice {
  int64_t tried = 0;
  std::vector<Help> helps;
};

/// One call.
struct CallPrediction {
  library::Call call;
  plan::Conditions conditions;
  Setting setting;
  plan::StepTime time;
  std::optional<Advice> advice = {};  // where it was asked for
};

}  // namespace orrery::report
