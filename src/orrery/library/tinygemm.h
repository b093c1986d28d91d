// tinygemm: PyTorch's product of 16-bit activations with 4-bit weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

// torch._weight_int4pack_mm launches tinygemm_m16n8k16_chunk_kernel (aten/src/ATen/native/cuda/
// int4mm.cu): a block of 8 warps owns 16 x 8 of C. Warp w takes every eighth chunk of 128 of k:
// it loads the chunk of A straight into fragments (32 loads of 4 bytes a lane, of which each
// touches 8 rows, so 8 cache lines), 512 bytes of B, dequantises and multiplies by mma.sync. The
// warps' sums meet in shared memory.
//
//     one row           m = 1: a load touches one line; DRAM latency of the few chunks counts
//     many rows         256 lines a chunk: the tag stage of L1, one line a clock, is the bound, at
//                       4 % of the matrix rate; every 16 rows read all weights again

/// Section "tinygemm".
std::unique_ptr<Family> read_tinygemm(machine::NumberFile& file);

}  // namespace orrery::library
