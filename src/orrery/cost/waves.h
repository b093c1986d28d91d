// Waves: how long the busiest SM works on its share of a launch, in cycles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "orrery/cost/trip.h"
#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"

namespace orrery::cost {

// Units are dealt to SMs evenly; an SM runs up to `ctas_per_sm` at once and takes the next when one
// ends. 300 equal units on 132 SMs that hold 2 each: the busiest SM gets 3, so it runs two together
// and then one alone. A persistent launch has fewer CTAs than units: each CTA takes units one after
// the other. Units of several kinds (causal attention) come in issue order: the SMs share the work
// evenly until the last kind, whose units end alone. Blocks start one after the other, chip-wide:
// many short ones are bound by that (Launch::block_interval).
//
// Where the kinds are issued in `rounds` (each head's causal tiles, short ones first, one head
// after the other) and an SM holds two CTAs, three cases are told apart:
//   all CTAs have an SM each            the longest
//   all CTAs run at once, two on an SM  the longest pair: CTA i shares its SM with CTA i + SMs;
//   when
//                                       the shorter ends the other goes on alone, faster
//   more                                every slot is taken when a unit of the last round starts,
//   and
//                                       the others have E[t^2] / 2 E[t] left on average (renewal
//                                       theory): what ends last is the longest if it comes last, or
//                                       the first of the last round if that is the longest. A CTA
//                                       that only waits (for its first operands) leaves the pipes
//                                       to its mate.

/// One phase of the launch as the busiest SM sees it.
struct PhaseTime {
  const kernel::ProfilePhase* phase = nullptr;
  double cycles = 0;  // all its trips, in all rounds
  Limit limit = Limit::Chain;
};

struct CoreTime {
  double cycles = 0;       // of the busiest SM, from the first operands to the last store
  double tensor_load = 0;  // the matrix pipes are busy, mean over all SMs, times the energy of
                           // their element type (clock.h)
  double active_sms = 0;   // that have work in the first round
  bool pipelined = false;  // some phase prefetches
  PhaseTime longest;       // the phase that takes most
};

/// `dram_latency_share`: of the global accesses that find their data in DRAM only.
CoreTime core_time(const kernel::Profile& profile,
                   const machine::Chip& chip,
                   double dram_latency_share);

}  // namespace orrery::cost
