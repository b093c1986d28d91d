// Mixtures: the fastest mixture of reads and writes that a machine's DRAM numbers allow.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/machine/machine.h"

namespace orrery::machine {

// A share x of reads takes, by cost/memory.h, for each byte
//
//     x / read + (1 - x) / write * (1 - mix x)
//
// which has its least value between reads alone and writes alone once mix is large enough: then a
// mixture is faster than either. No memory moves more than its interface, dram.bandwidth.

/// What the fastest mixture moves; `dram` has rates above 0 and mix in [0, 1).
BytesPerSecond fastest_mixture(const Dram& dram);

/// The largest mix at which no mixture exceeds dram.bandwidth, which neither read nor write does.
double largest_mix(const Dram& dram);

}  // namespace orrery::machine
