// Occupancy: how many CTAs of a kernel an SM (a CU) holds at once, and what stops it from holding
// more.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "orrery/base/quantity.h"
#include "orrery/machine/machine.h"

namespace orrery::kernel {

// An SM has room for CTAs until its registers, shared memory, threads or CTA slots are used up:
//
//     128 threads of 40 registers, 20 KiB of shared memory, on an H200's SM:
//       registers  65,536 / (4 warps x 40 x 32)    12       threads  2048 / 128   16
//       shared     228 KiB / (20 + 1) KiB          10  <-   CTAs                  32
//
// Registers are handed out per warp in steps of `register_granularity` a thread.

struct CtaResources {
  int64_t threads = 0;
  int64_t registers = 0;  // of all threads together, already rounded up per thread
  Bytes shared;
};

enum class OccupancyLimit { Registers, Shared, Threads, Ctas };
std::string_view name(OccupancyLimit limit);

struct Occupancy {
  int64_t ctas = 0;  // per SM; 0: not even one fits
  OccupancyLimit limit = OccupancyLimit::Ctas;
};

/// The smallest of the four; on a tie the first in the order of OccupancyLimit.
Occupancy occupancy(const CtaResources& cta, const machine::Core& core);

}  // namespace orrery::kernel
