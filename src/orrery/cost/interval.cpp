// Intervals: a relative error on both sides.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/interval.h"

namespace orrery::cost {

void set_interval(plan::Estimate& estimate,
                  const kernel::Profile& profile,
                  const machine::Chip& chip) {
  const double stated = profile.behaviour.relative_error;
  const double error = stated > 0 ? stated : chip.overlap.error;
  estimate.low = estimate.time / (1 + error);
  estimate.high = estimate.time * (1 + error);
}

}  // namespace orrery::cost
