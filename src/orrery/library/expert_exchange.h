// DeepEP: the kernels that bring tokens to the GPUs of their experts, and results back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

// Two pairs of kernels inside a node, where ranks write to each other's memory over NVLink:
//
//     normal        for many tokens. A few SMs (20, unless set) walk all tokens; half of them send
//                   through queues in the receivers' memory, the others receive. One copy for each
//                   distinct rank. Bound by what so few SMs load and store, then by the link.
//     low latency   for decode steps. ceil(experts / ceil(experts / SMs)) blocks, so few experts
//                   take few SMs; one copy for each expert; dispatch casts to fp8 on the way.
//
// Normal kernels are those of a known layout (counts of each rank cached, as combine and a backward
// pass have it); a first dispatch also counts, and its host waits for the counts.
//
// Time is what does not depend on tokens (launch, flags, barriers, the latency of one token's
// vector; of low latency also the counts of each expert) and then the slower of SMs and link:
//
//     SMs    tokens x (token + copies x copy) + (copies + own) x tokens x bytes / rate, over blocks
//     link   tokens x copies x bytes x (gpus - 1) / gpus over its achieved rate x share

/// Section "deepep".
std::unique_ptr<Family> read_deepep(machine::NumberFile& file);

}  // namespace orrery::library
