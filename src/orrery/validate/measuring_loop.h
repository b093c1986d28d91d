// The measuring loops behind tables of kernels: what they rotate among, and how warm that leaves
// L2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "orrery/base/quantity.h"
#include "orrery/base/result.h"
#include "orrery/library/call.h"
#include "orrery/plan/estimate.h"
#include "orrery/validate/cases.h"

namespace orrery::validate {

/// How many copies of its operands a measuring loop rotates among: together 320 MiB, so that L2 is
/// cold, but not more than `most` (README of the measured data, section A).
int64_t input_sets(Bytes operands, int64_t most);

/// A loop of one call in a CUDA graph: operands are as warm as all their copies fit into L2, and
/// the window lies across the drop of the clock under load. The result goes to one of as many
/// copies, or (`fresh`) to memory that the framework's allocator hands out anew each time, always
/// the same.
struct Loop {
  int64_t sets = 1;
  bool fresh = false;
  double window_ms = 40;   // of timing,
  double warm_up_ms = 15;  // after so much
};

plan::Conditions conditions_of(const Setup& setup, const Loop& loop);

/// The time of `call` in such a loop.
Result<plan::Estimate> predict(const library::Call& call, const Setup& setup, const Loop& loop);

inline double number(int64_t value) {
  return static_cast<double>(value);
}

}  // namespace orrery::validate
