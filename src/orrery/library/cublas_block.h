// cuBLAS' products of operands with a scale per block: fp8 with 128-blocks, mxfp4, nvfp4.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

// fp8 with an fp32 scale per 1 x 128 of A and per 128 x 128 of B: the matrix unit cannot apply such
// scales, so every 128 of k the partial product leaves it and is added, scaled, to a second set of
// accumulators by the vector lanes (the promotion). Two warpgroups own 64 rows each of a tile of
// 128 x 128; one promotes while the other multiplies:
//
//     a k-step of 128 on an H200    product of both       2 * 256 clk
//                                   of one, and its wait and promotion      256 + wait
//
// The longer of the two is the step. There is one tile, whatever the sizes, and no split along k: a
// product of few rows and 4096 columns keeps 32 of 132 SMs busy.
//
// mxfp4 and nvfp4 have their scales applied by the matrix unit; chips without a rate for f4e2m1
// cannot run them.

/// Section "fp8_block".
std::unique_ptr<Family> read_fp8_block(machine::NumberFile& file);

/// Section "fp4".
std::unique_ptr<Family> read_fp4(machine::NumberFile& file);

}  // namespace orrery::library
