// Links: how long what a kernel sends to other GPUs takes, and how long its messages wait.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"

namespace orrery::cost {

// A collective is one kernel on every GPU: a block a channel loads, adds, stores and sends. Blocks
// and link work side by side, so mostly the slower of them is seen (overlap.h); the messages that
// depend on one another come before:
//
//     all_reduce of 512 MiB on 2 H200, ring, 24 channels, protocol Simple
//       hops     2 (one to reduce, one to gather)
//       link     512 MiB sent / 370.8 GB/s                                   = 1.45 ms
//       blocks   4 bytes loaded or stored per byte / (24 x 56 GB/s)          = 1.60 ms  <- bound
//
// One level so far, the links inside a node. A network between nodes will be a second LinkWork.

/// Seconds that the link of one GPU moves its messages.
double link_seconds(const kernel::LinkWork& work, const machine::Link& link);

/// Seconds of the messages that wait for one another.
double hop_seconds(const kernel::LinkWork& work);

}  // namespace orrery::cost
