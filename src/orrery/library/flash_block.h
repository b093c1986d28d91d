// What FlashAttention 2 does with one block of keys, forward and backward: its constants and the
// time of a block alone on its SM.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

// mma.sync, ldmatrix and the softmax follow each other in one warp; the two warps of a scheduler
// (of two CTAs, or of one CTA of eight warps) hide each other's waits in part. So a block takes
// (tensor^p + shared^p + issue^p)^(1/p) clocks of the SM when two warps share a scheduler, and
// `alone` times that for one.
struct FlashBlock {
  double tensor_share = 1;
  double issue_per_score = 0;
  double pipe_overlap = 1;
  double alone = 1;
};

FlashBlock read_flash_block(machine::NumberFile& file);

/// Clocks of the SM that `work` takes with all its scheduler's warps busy.
double shared_cycles(const kernel::PipeWork& work, double pipe_overlap, const machine::Core& core);

}  // namespace orrery::library
