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
#include "orrery/report/limits.h"

namespace orrery::report {

/// On what and with what a prediction was made.
struct Setting {
  std::string machine;  // id
  std::string machine_title;
  std::string library;  // id
  std::string library_version;
  std::string clock;  // burst, steady or mixed
  Limits limits = {};
};

/// Whether the program fits into the machine's memory.
struct Fit {
  Bytes capacity;     // of the machine
  double usable = 1;  // share that the program may use
  bool fits = true;
  int64_t largest_batch = 0;  // with which it would fit; 0: with none
  int64_t smallest_tp = 0;    // GPUs that share it with which it would fit; 0: with none in a node
  bool fp8_cache = false;     // it would with keys and values in fp8
};

/// What a change asks of its author, the cheapest first.
enum class Price {
  Layout,    // the same numbers in another order, or by another way
  Padding,   // a size is rounded up; what is too much is cut off
  Work,      // less at a time; counted per unit of work
  Accuracy,  // a smaller element type
  Compile,   // another program for the same model
  Latency,   // each step takes longer
  Gpus,      // more of them
};
std::string_view name(Price price);

/// A change that would make a call or a step faster.
struct Help {
  std::string change;  // "n=4104 instead of 4100"
  Price price = Price::Padding;
  Duration time;             // with it
  double gain = 0;           // share of the time saved, per unit of work
  std::string kernels = {};  // that would run then, where they are others
};

/// What was tried to make it faster, and the best of each price that helps, cheapest first.
struct Advice {
  int64_t tried = 0;
  std::vector<Help> helps;
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
  int64_t tp = 1;                     // GPUs that share its layers
  int64_t ep = 1;                     // GPUs that share its experts
  std::string engine = "pytorch";     // whose attention, experts and all-reduces
  std::optional<Advice> advice = {};  // where it was asked for
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
