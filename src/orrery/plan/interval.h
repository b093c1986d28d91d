// The interval of a sum of predictions whose errors are partly common.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "orrery/base/quantity.h"

namespace orrery::plan {

// A kernel's error is mostly the model's, not noise: the same call errs the same way each time it
// runs, and calls of different shapes err partly together (the same DRAM rate is in all of them).
// With h_i half the interval of step i times how often it runs, and r the correlation of the errors
// of any two steps,
//
//     half = sqrt((1 - r) * sum(h_i^2) + r * (sum h_i)^2)
//
// r = 0 is independent errors: {3 us, 4 us} give 5 us. r = 1 is all errors in one direction: 7 us.

/// Assumed for two different steps of a plan: machine parameters (bandwidth, clock, launch gap) are
/// in most steps of a decoder, the shares of the kernels are their own.
inline constexpr double kStepCorrelation = 0.3;

/// Half the interval of the sum.
Seconds combined_half(const std::vector<Seconds>& halves, double correlation);

}  // namespace orrery::plan
