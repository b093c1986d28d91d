// The family of residual addition with RMS normalisation: H = X + R, Y = H / rms(H) * W.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"
#include "orrery/kernel/program.h"
#include "orrery/machine/machine.h"

namespace orrery::kernel {

// Row by row, over X, R [row, col] and W [col]:
//
//     h = x + r                                  rounded to the tensors' type, and stored
//     y = h * rsqrt(sum(h * h) / cols + eps) * w
//
// **Held** (the usual form): a row lies in the registers of `row_warps` warps, each thread with
// `vectors` runs of `width` neighbouring elements (16 bytes when rows start at 16-byte boundaries,
// one element otherwise):
//
//     register 8:col*1 V:col*(8*32*row_warps)   lane 32:col*8   warp row_warps:col*256 R:row*1
//
// so one pass over memory is enough: 2 reads and 2 writes an element. A CTA has `rows` rows, each
// of its own warps; with row_warps = 1 the sum needs shuffles only, no barrier.
// **Looped** (rows too long for registers): two walks over the row in tiles of the same layout. The
// first stores h and sums, the second reads h again (from L2: it was written just before, by the
// same thread) and stores y.
//
// Extents: rows, cols. In the held form cols <= tile_cols(config). `aligned` promises that cols is
// a multiple of 8.

struct AddRmsNormConfig {
  Target target = Target::Sm90a;
  DType dtype = DType::BF16;  // of every tensor
  int64_t rows = 1;           // of a CTA
  int64_t row_warps = 8;      // warps that share a row
  int64_t vectors = 2;  // runs of `width` elements a thread holds of its row (looped: of a tile)
  bool aligned = true;  // cols is a multiple of 8: width 8 (16 bytes), otherwise 1
  bool looped = false;
  double eps = 1e-5;

  bool operator==(const AddRmsNormConfig&) const = default;
};

/// Columns of one tile: width x vectors x lanes x row_warps.
int64_t tile_cols(const AddRmsNormConfig& config);

std::string kernel_name(const AddRmsNormConfig& config);

/// Errors: InvalidInput with every reason that holds.
Result<Program> add_rms_norm_program(const AddRmsNormConfig& config);

/// Configurations worth timing, in a fixed order.
std::vector<AddRmsNormConfig> add_rms_norm_configs(int64_t rows,
                                                   int64_t cols,
                                                   const machine::Chip& chip,
                                                   const AddRmsNormConfig& base);

}  // namespace orrery::kernel
