// Intervals: within which bounds four of five measurements lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"
#include "orrery/plan/estimate.h"

namespace orrery::cost {

// The error of a prediction is relative (a model of rates is wrong by a factor): low = time / (1 +
// e), high = time * (1 + e). A library file states e per family, found on shapes that were left out
// of the fit; a kernel without a stated error (a generated one) takes the machine's.

/// Sets low and high around estimate.time.
void set_interval(plan::Estimate& estimate,
                  const kernel::Profile& profile,
                  const machine::Chip& chip);

}  // namespace orrery::cost
