// NCCL: which algorithm and protocol it takes for a collective inside one node, and what that
// costs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

// NCCL cuts a message over *channels*: a block on an SM each, which loads, adds, stores and sends
// its share in *steps* around a ring of the GPUs (or over NVLink SHARP, "NVLS", where the switch
// adds). The *protocol* says how a receiver learns that data has come:
//
//     LL      8 bytes of data and 8 of flags in one store: quick, half of the link
//     LL128   120 bytes of data and 8 of flags: needs stores of 128 bytes that arrive whole
//     Simple  data, then a fence and a flag: slow to start, the whole link
//
// Sends and receives (all_to_all too) choose by size alone; other collectives by NCCL's tuning
// model (src/graph/tuning.cc), whose latencies and bandwidths are not those that are measured: it
// chooses, and our numbers time what it chose.

/// Section "nccl".
std::unique_ptr<Family> read_nccl(machine::NumberFile& file);

}  // namespace orrery::library
