// Residents: how long kernels take whose CTAs wait for their own loads, and overlap only with their
// neighbours.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/cost/waves.h"
#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"

namespace orrery::cost {

// A CTA of a pointwise, norm or softmax kernel loads, computes, stores and ends. Nothing overlaps
// inside of it; while it waits, the other CTAs resident on its SM work. That is a closed queueing
// network: R customers (resident CTAs) circulate between the SM's pipes (demand c a unit), DRAM or
// L2 (demand m a unit, the SM's share of the launch's traffic) and pure waiting z (latencies of
// loads, dependent instructions, barriers), where nobody queues. Its throughput follows from mean
// value analysis (Reiser and Lavenberg, J. ACM 27, 1980): with n residents
//
//     X(n) = min(n / (z + c (1 + Qc) + r (1 + Qr)),  1 / max(c, m))      Qi of n - 1 residents
//
// r is the part of m that reads take: a CTA waits for what it loads, not for what it stores.
// One resident: c + r + z, no overlap at all (softmax of 8192 fp32 columns). Sixteen, z small: the
// busier of the two, plus some percent where both are nearly equally busy. Sixteen, z large: z.
// There is no exponent to fit. A launch of `share` units a SM takes share / R rounds of that.
//
// In kernels that read once (`single pass`), the CTAs of a launch start together, so their loads
// also end together, and the first rounds overlap less: a share `in_step` of the shorter of the two
// works of one round is added.

/// Seconds.
struct ResidentsTime {
  double body = 0;   // from the first operand on
  double pipes = 0;  // of the SM's pipes, all units
  double chain = 0;  // of waiting, all rounds
  PhaseTime longest;
};

struct ResidentsConditions {
  double hertz = 1;
  double memory = 0;              // seconds of L2 and DRAM for the launch
  double read_share = 1;          // of these; writes are posted, nobody waits for them
  double dram_latency_share = 0;  // of its global accesses that find their data in DRAM only
};

ResidentsTime residents_time(const kernel::Profile& profile,
                             const machine::Chip& chip,
                             const ResidentsConditions& conditions);

}  // namespace orrery::cost
