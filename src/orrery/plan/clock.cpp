// Clock: power against frequency.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/plan/clock.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "orrery/base/check.h"

namespace orrery::plan {
namespace {

constexpr double kTrialReplays = 2;  // of a measuring loop, to find how long a replay takes

}  // namespace

double tensor_power(const machine::Clock& clock, double steady_share) {
  if (clock.tensor_power_burst <= 0 || clock.tensor_power_steady <= 0) {
    return steady_share * clock.tensor_power_steady + (1 - steady_share) * clock.tensor_power_burst;
  }
  return clock.tensor_power_burst *
         std::pow(clock.tensor_power_steady / clock.tensor_power_burst, steady_share);
}

double steady_share(const machine::Clock& clock, ClockState state) {
  switch (state) {
    case ClockState::Burst:
      return 0;
    case ClockState::Steady:
      return 1;
    case ClockState::Mixed:
      return clock.mixed_share;
  }
  ORR_UNREACHABLE();
}

double steady_share(const machine::Clock& clock, const Window& window, double call) {
  const double replay = std::max(1e-12, call * static_cast<double>(window.calls));
  const double before = std::max(1.0, std::floor(window.warm_up.seconds().value() / replay));
  const double timed = std::max(static_cast<double>(window.replays),
                                std::floor(window.length.seconds().value() / replay));
  const double middle = (kTrialReplays + before + timed / 2) * replay;
  const double late = middle - clock.drop_after.seconds().value();
  const double spread = std::max(1e-6, clock.drop_spread.seconds().value());
  return 0.5 * std::erfc(-late / (spread * std::numbers::sqrt2));
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

}  // namespace orrery::plan
