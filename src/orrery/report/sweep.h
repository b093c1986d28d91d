// Sweeps: one prediction per point of a grid of options and machines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/plan/estimate.h"
#include "orrery/report/prediction.h"

namespace orrery::report {

// `--batch 1..3 --context 512,1024` on two machines is a grid of 2 x 3 x 2 points. They lie in one
// list, the last axis fastest and machines slowest:
//
//     machine  batch  context
//     h100         1      512      points[0]
//     h100         1     1024      points[1]
//     h100         2      512      points[2]
//     ...
//     h200         3     1024      points[11]

/// An option and the values that it takes.
struct Axis {
  std::string name;
  std::vector<std::string> values;
};

/// What is kept of a prediction.
struct SweepPoint {
  std::string error;  // why there is none; else empty
  Duration time;
  Duration low;
  Duration high;
  plan::Bound bound = plan::Bound::Latency;
  double tokens_per_second = 0;  // models
  Bytes memory;                  // models
  bool fits = true;
  std::vector<std::string> warnings = {};
};

struct Sweep {
  std::string subject;                                     // "llama-3.1-8b", "gemm"
  bool is_model = true;                                    // else an operator
  std::vector<std::pair<std::string, std::string>> fixed;  // options of one value
  std::vector<Setting> settings;                           // of each machine; no clock: an axis
  std::vector<Axis> axes;
  std::vector<SweepPoint> points;

  size_t points_per_machine() const;
  /// The value of axis `axis` at `point`.
  const std::string& value(size_t point, size_t axis) const;
};

/// The axis along which curves are drawn: the one with the most values that are all numbers, the
/// last of several; axes.size() if there is none.
size_t curve_axis(const Sweep& sweep);

/// Messages, each with how many points have it, in order of appearance.
using Counted = std::vector<std::pair<std::string, size_t>>;

/// Points that were not predicted.
Counted errors_of(const Sweep& sweep);
Counted warnings_of(const Sweep& sweep);
/// Does any predicted point fit into its machine's memory?
bool any_fits(const Sweep& sweep);

/// A table with the machines side by side, and a chart. Of many points every n-th is shown, and it
/// says so.
std::string to_text(const Sweep& sweep);
/// Every point: machine, axes, time_us, low_us, high_us, bound, tokens_per_second, memory_bytes,
/// fits, error. Warnings are in the text and in JSON.
std::string to_csv(const Sweep& sweep);
/// Schema orrery.sweep/1: docs/reference/json.md.
std::string to_json(const Sweep& sweep);

}  // namespace orrery::report
