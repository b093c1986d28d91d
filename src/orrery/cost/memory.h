// Memory: what a launch moves through L2 and DRAM, and how long that takes when nothing else does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"
#include "orrery/plan/estimate.h"

namespace orrery::cost {

// plan/residency.h says what of it is in L2 already.
//
// DRAM moves reads at its read rate; writes at its write rate, less the more reads there are among
// them:
//
//     time = read / R + write / W * (1 - mix * read / (read + write))
//
// H200: R 4.45 TB/s, W 3.35 TB/s, mix 0.295 gives 4.17 TB/s for a copy and 4.36 TB/s for an
// addition, as measured.

struct MemoryTime {
  double dram = 0;        // seconds
  double dram_bytes = 0;  // read and written
  double cold_share = 1;  // of the read bytes that come from DRAM
  double read_share = 1;  // of the memory time that reads take; writes are posted, nobody waits
  double l2_once = 0;     // bytes read from or kept in L2, each once
};

MemoryTime memory_time(const kernel::Profile& profile,
                       const machine::Chip& chip,
                       const plan::Conditions& conditions);

/// Clocks of the SM clock that L2 needs for the launch's traffic.
double l2_cycles(const kernel::Traffic& traffic, const machine::Chip& chip);

/// Seconds that DRAM needs for so many bytes.
double dram_seconds(const machine::Dram& dram, double read, double write);

}  // namespace orrery::cost
