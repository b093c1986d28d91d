// Residency: how much of what a launch reads and writes L2 holds already, and keeps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"
#include "orrery/plan/estimate.h"

namespace orrery::plan {

// What is in L2 needs no DRAM. Whether operands are, depends on what happened before:
//   cold       the operand was not touched lately: every byte comes from DRAM
//   warm       it was, and is still there as far as the bytes touched since fit into L2's effective
//   size C:
//              share = 1 / (1 + (bytes / C)^8), a knee rather than a step, since L2 hashes
//              addresses over its slices
// What the kernels of one call hand to each other (scratch) is warm, one copy of it whatever a loop
// rotates among. Activations may be warm while weights are cold; what is written is as warm as the
// activations (it stays in L2 until others push it out). A measuring loop over n sets of operands
// touches n times the bytes in between. What the kernel before in the same sequence has touched (a
// mask, an intermediate result) is there whatever the operands' state, as far as it fits beside
// what this kernel moves.

/// Shares in [0, 1].
struct Residency {
  double recent = 0;   // of the operands that the kernel before has written (activations)
  double other = 0;    // of the others (weights)
  double scratch = 0;  // of what an earlier kernel of the same call wrote or read
  double kept = 0;     // of the written bytes, which DRAM then never sees

  /// Bytes of the launch's operands that are in L2 when it begins, each once.
  double bytes(const kernel::Traffic& traffic) const;
};

Residency residency(const kernel::Traffic& traffic,
                    const machine::L2& l2,
                    const Conditions& conditions);

}  // namespace orrery::plan
