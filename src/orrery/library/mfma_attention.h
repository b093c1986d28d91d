// Attention on matrix cores of CDNA chips: AITER's and composable_kernel's forward kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

// A workgroup of four waves owns a tile of queries and walks the keys in blocks. Of a block, the
// matrix cores do two products, and the vector lanes the softmax of its scores between them, whose
// exponentials bind (a quarter of the lanes' rate). A wave does one after the other, and two waves
// on a SIMD hide little of it, so both count in full:
//
//     128 queries, 64 keys, head size 128, on an MI300X
//       products      4 * 128*64*128 FLOP / (2048 FLOP/clk * share)   = 2048 clk / share
//       exponentials  128*64 scores * exponentials / (7.1 per clk)    = 1154 clk * exponentials
//
// Few queries (decode): the query heads of a key head become rows of one tile, the keys are cut
// into splits that fill the chip, and a second kernel combines them.

/// Section "mfma_attention".
std::unique_ptr<Family> read_mfma_attention(machine::NumberFile& file);

}  // namespace orrery::library
