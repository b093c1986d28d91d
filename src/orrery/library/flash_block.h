// What attention kernels of mma.sync do with one block of scores: its instructions, its clocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "orrery/base/dtype.h"
#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

// A warp loads operands (ldmatrix), multiplies (mma.sync) and does its rows' softmax, one after the
// other, and the two warps of a scheduler (of two CTAs, or of one CTA of eight warps) hardly hide
// that from each other: clocks of the tensor pipe and instructions add up. Shared memory works
// beside them:
//
//     head size 64   tile 128x128   tensor 1536 + 1450 instructions, shared memory 1400   3291 clk
//     head size 128  tile 128x64    tensor 1536 +  990               shared memory 1540   2772 clk
//     head size 256  tile 64x64     tensor 1536 +  690               shared memory 2810   3025 clk
//
// (clocks of an SM per block, measured). With one warp a scheduler a block takes `alone` times
// that.
struct FlashBlock {
  double tensor_share = 1;     // of the chip's rate that mma.sync reaches
  double issue_per_score = 0;  // warp instructions of the softmax
  double issue_per_row = 0;
  double issue_stretch = 1;  // issue slots an instruction takes
  double pipe_overlap = 1;
  double alone = 1;
};

/// The numbers of `section`.
FlashBlock read_flash_block(machine::NumberFile& file, const std::string& section);

/// Counts of one block of rows x keys.
struct BlockCounts {
  double rows = 0;
  double keys = 0;
  Flops tensor;
  Bytes operands;       // read from shared memory by ldmatrix
  Bytes loaded;         // written to shared memory by cp.async
  double rescaled = 0;  // elements of the accumulated output
};

kernel::PipeWork block_work(const BlockCounts& counts,
                            const FlashBlock& block,
                            DType dtype,
                            const machine::Core& core);

/// Clocks of the SM that `work` takes with its schedulers' warps all there.
double shared_cycles(const kernel::PipeWork& work, double pipe_overlap, const machine::Core& core);

}  // namespace orrery::library
