// Launches: the profile of one kernel of PyTorch's, from its geometry and the steps of a block.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/kernel/profile.h"
#include "orrery/library/call.h"
#include "orrery/machine/machine.h"

namespace orrery::library {

// Reductions, scans, sorts and scatters are sequences of kernels whose blocks do a few steps each:
// load, combine, wait. A step counts what one block does in one trip:
//
//     argmax, 512 threads, 4 bf16 values a thread and trip: 16 warps of 110 issue slots, one
//     dependent access; its warps start together and wait for each other at the end, so they issue
//     in step, and the trip lasts an access and then 16 * 110 / 4 slots.

/// One trip of a block.
struct Step {
  std::string_view name = {};
  double trips = 1;
  double warps = 1;
  double slots = 0;  // issue slots of a warp: instructions, those of half-wide pipes twice
  double l2_read = 0;
  double l2_write = 0;
  double memory = 0;  // dependent accesses to global memory
  double shared = 0;
  double barriers = 0;
  double instructions = 0;  // dependent ones
  double fixed = 0;         // clocks
  bool in_step = false;     // all warps issue, then all wait
};

kernel::ProfilePhase phase(const Step& step, const machine::Chip& chip);

/// Bytes of a launch. `scratch`: read of what an earlier kernel of the same call wrote or read.
/// `kept`: the result is read by a later kernel of the call, so it need not reach DRAM if it fits.
struct Moved {
  double read = 0;
  double scratch = 0;
  double write = 0;
  double reread = 0;  // drawn from DRAM again when the operands are cold
  bool kept = false;
};

struct Launch {
  std::string kernel = {};
  std::string_view family = {};
  double blocks = 1;
  int64_t threads = 128;
  int64_t registers = 32;
  double shared = 0;  // bytes a block
  std::vector<kernel::ProfilePhase> phases = {};
  Moved moved = {};
  double overlap = 0;     // exponent of core work with memory traffic; 0: the machine's
  double restart = 0;     // clocks that a later round of blocks takes to start
  double dram_share = 1;  // of the machine's achieved rate
  double error = 0;       // half an 80 % interval, relative
};

kernel::Profile profile_of(Launch launch, const machine::Chip& chip);

/// A memset node, or a kernel of one block that sets a few words.
kernel::Profile small_node(std::string_view kernel, const Launch& like, const machine::Chip& chip);

/// A memcpy node of so many bytes.
kernel::Profile copy_node(const Moved& moved, const Launch& like, const machine::Chip& chip);

/// Error Unsupported unless values have 2 or 4 bytes: bf16, fp16, fp32.
Result<void> check_value_size(const RowsCall& call, std::string_view rule);

}  // namespace orrery::library
