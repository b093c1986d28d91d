// Clock: power against frequency.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/clock.h"

#include <cmath>

#include "orrery/base/check.h"

namespace orrery::cost {

double tensor_power(const machine::Clock& clock, plan::ClockState state) {
  switch (state) {
    case plan::ClockState::Burst:
      return clock.tensor_power_burst;
    case plan::ClockState::Steady:
      return clock.tensor_power_steady;
    case plan::ClockState::Mixed:
      if (clock.tensor_power_burst <= 0 || clock.tensor_power_steady <= 0) {
        return clock.mixed_share * clock.tensor_power_steady +
               (1 - clock.mixed_share) * clock.tensor_power_burst;
      }
      return clock.tensor_power_burst *
             std::pow(clock.tensor_power_steady / clock.tensor_power_burst, clock.mixed_share);
  }
  ORR_UNREACHABLE();
}

double clock_hertz(const machine::Clock& clock,
                   double tensor_power,
                   double tensor_share,
                   double dram_share) {
  const double power =
      clock.base_power + tensor_power * tensor_share + clock.dram_power * dram_share;
  return power <= 1 ? clock.max.value()
                    : clock.max.value() * std::exp(-std::log(power) / clock.exponent);
}

}  // namespace orrery::cost
