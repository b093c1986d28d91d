// Trips: the time of one trip of a kernel's phase, such as one k-step of a GEMM's main loop, on one
// SM.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"

namespace orrery::cost {

// A trip is bound by the busiest pipe, or by what must happen one after the other:
//
//     bf16 GEMM, tile 256x128, k-step 64, cluster 1x2, ring 4, one CTA on an H200's SM
//       tensor    2*256*128*64 FLOP / (4096 FLOP/clk * 0.97)        = 1056 clk      <- the bound
//       shared    4 * (64 + 128) * 64 * 2 B / 128 B/clk             =  768 clk
//       L2 port   (256/2 + 128) * 64 * 2 B / 64 B/clk               =  512 clk
//       in flight (350 clk latency + 512 clk) / (4 - 1)             =  287 clk
//
// When `residents` CTAs share the SM, each pipe has the work of all of them, while their chains run
// side by side. Pipes that are nearly equally busy hinder each other: they are combined with the
// exponent `pipes` (overlap.h).

/// What a trip waits for.
enum class Limit { Tensor, Vector, Special, Issue, Shared, L2Port, Chain, InFlight, BlockStart };

struct Trip {
  double cycles = 0;  // of the trip
  double fill = 0;    // latency of its first operands, paid once per run of the phase (ring > 1)
  Limit limit = Limit::Chain;
  bool works = false;  // some pipe has work; else it only waits
};

struct TripConditions {
  int64_t residents = 1;          // CTAs that run this phase on the SM at once
  double dram_latency_share = 0;  // of its global accesses that go to DRAM
  double pipe_overlap = 1;        // exponent
};

/// Clocks that the pipes need for a trip's work, and the busiest of them.
struct Busy {
  double cycles = 0;
  Limit limit = Limit::Chain;
};

Busy busy_pipes(const kernel::PipeWork& work, const machine::Chip& chip, double pipe_overlap);

/// Clocks of a chain, with the given share of its global accesses going to DRAM.
double chain_cycles(const kernel::Chain& chain,
                    const machine::Chip& chip,
                    double dram_latency_share);

Trip trip(const kernel::ProfilePhase& phase,
          const machine::Chip& chip,
          const TripConditions& conditions);

}  // namespace orrery::cost
