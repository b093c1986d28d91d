// Clock: at which frequency the SMs run under a load.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/machine/machine.h"
#include "orrery/plan/estimate.h"

namespace orrery::cost {

// A chip under its power limit lowers its clock. Relative to the power at which that begins,
//
//     power = base + tensor * (share of time the matrix pipes are busy) + dram * (share of time
//     DRAM is) f     = f_max * min(1, power^(-1 / exponent))
//
// A saturated kernel runs at 1.61 GHz on an H200 even in one cold launch (burst), and some 18 %
// slower once the chip has been busy for 20 to 60 ms (steady): `tensor` has two values. A measuring
// window across both (mixed) takes the geometric mean of the two powers with weight `mixed_share`.

/// The power of the matrix pipes at full use in a clock state; the rest of the formula is
/// clock_hertz.
double tensor_power(const machine::Clock& clock, plan::ClockState state);

/// Hertz; the shares lie in [0, 1].
double clock_hertz(const machine::Clock& clock,
                   double tensor_power,
                   double tensor_share,
                   double dram_share);

}  // namespace orrery::cost
