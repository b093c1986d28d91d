// The closed-form estimator: the time of a profile as a sum of named terms, in under a microsecond.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "orrery/machine/machine.h"
#include "orrery/plan/estimate.h"

namespace orrery::cost {

// The time of one kernel, from the end of the kernel before it to its own end:
//
//     time = launch gap (+ more if the kernel before was another one, + memset nodes)
//          + fixed cost of a library kernel
//          + first access (from L2, or from DRAM)
//          + overlapped(busiest SM's work / clock,  overlapped(L2 traffic / clock, DRAM traffic))
//
// waves.h has the busiest SM's work, made of trips (trip.h); memory.h the traffic; clock.h the
// clock, which depends on how busy the kernel keeps the chip and is found by iteration; overlap.h
// how they overlap; interval.h the interval.

/// Reads profiles only; knows no kernel by name.
class ClosedForm final : public plan::Estimator {
 public:
  explicit ClosedForm(machine::Machine machine);

  /// Always finite and positive, saturating at Duration::max().
  plan::Estimate time(const kernel::Profile& profile,
                      const plan::Conditions& conditions) const override;

  const machine::Machine& machine() const override { return machine_; }

 private:
  machine::Machine machine_;
  std::array<double, 3> tensor_power_;  // of each clock state without a window
};

}  // namespace orrery::cost
