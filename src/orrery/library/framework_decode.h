// One new token a sequence: the CTAs of a decode kernel, and the kernel that joins splits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "orrery/kernel/profile.h"
#include "orrery/library/call.h"
#include "orrery/library/framework_tables.h"
#include "orrery/machine/machine.h"

namespace orrery::library {

// A decode kernel reads every key and value once and computes little, so its time is the larger of
// memory's and that of the CTAs' latencies:
//
//     CTA = unit + unit_dim d + unit_row rows d + blocks (block + bytes of a block / port)
//
// d is the mean of the head sizes of keys and values over 128. The CTAs of an SM (slots) run side
// by side as far as they leave it to each other (busy). H200, FlashAttention 3, one block each:
// 2.5 us for head size 64, 3.1 for 128, 4.5 for 256, however few bytes that is: 16384 sequences x
// heads on 132 SMs take 124 rounds, 388 us.
std::vector<kernel::Profile> framework_decode(const AttentionCall& call,
                                              std::string_view kernel,
                                              const DecodeTable& table,
                                              const machine::Chip& chip);

/// Bytes of the keys and values that one call reads; latent attention reads its cache once for
/// both.
double cached_bytes(const AttentionCall& call);

}  // namespace orrery::library
