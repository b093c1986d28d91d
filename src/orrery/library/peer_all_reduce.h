// All-reduces of serving engines: kernels that read the other GPUs' memory themselves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

// For messages of decode steps NCCL's protocols cost more than the bytes. Engines map the others'
// buffers and take one of three ways:
//
//     one shot    every GPU reads all inputs: n - 1 of them over its link, one barrier
//     two shots   every GPU sums its share and then gathers the others': 2 (n - 1) / n, two
//     barriers multicast   the switch sums (NVLink SHARP): 1 + 1 / n
//
// Beyond a size that each engine sets, or where more than two GPUs meet in host bridges, they call
// NCCL.

/// Section "peer_all_reduce".
std::unique_ptr<Family> read_peer_all_reduce(machine::NumberFile& file);

}  // namespace orrery::library
