// Clock: at which frequency the SMs run under a load.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/machine/machine.h"
#include "orrery/plan/estimate.h"

namespace orrery::plan {

// A chip under its power limit lowers its clock. Relative to the power at which that begins,
//
//     power = base + tensor * (share of time the matrix pipes are busy) + dram * (share of time
//     DRAM is) f     = f_max * min(1, power^(-1 / exponent))
//
// A saturated kernel runs at 1.61 GHz on an H200 even in one cold launch (burst), and some 18 %
// slower once the chip has been busy for 20 to 60 ms (steady): `tensor` has two values. Products of
// some element types cost more energy than bf16's, by a factor (`tensor_energy`) that multiplies
// the busy share.
//
// The drop comes at a time that varies from run to run. A measuring window (Window) reports
// the median of its replays, so it is steady if the drop comes before the window's middle: the
// share of such runs is the normal distribution of (middle - drop_after) / drop_spread. For a loop
// of 15 ms warm-up and 40 ms of timing with replays of R the middle lies at
//
//     2 R + max(1, 15 / R) R + max(5, 40 / R) R / 2       36 ms for short replays, 50 for R = 8 ms
//
// A mixed time takes the geometric mean of the two powers with that weight, or with `mixed_share`
// where no window is known.

/// The power of the matrix pipes at full use when the chip is steady in `steady_share` of the runs;
/// the rest of the formula is clock_hertz.
double tensor_power(const machine::Clock& clock, double steady_share);

/// The weight of the steady state: 0 in burst, 1 when steady, mixed_share for ClockState::Mixed.
double steady_share(const machine::Clock& clock, ClockState state);

/// The same for a window of calls that take `call` seconds each.
double steady_share(const machine::Clock& clock, const Window& window, double call);

/// Hertz; the shares lie in [0, 1], the tensor pipes' times the energy of its element type.
double clock_hertz(const machine::Clock& clock,
                   double tensor_power,
                   double tensor_share,
                   double dram_share);

}  // namespace orrery::plan
