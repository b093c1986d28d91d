// Layouts that matrix instructions prescribe for their accumulator and for operands in registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"
#include "orrery/kernel/layout.h"
#include "orrery/kernel/program.h"

namespace orrery::kernel {

// A stage's warps share a product: `rows.warps` of them along the rows, `columns.warps` along the
// columns, the row coordinate fastest (warp = row warp + rows.warps * column warp). Each warp (each
// warpgroup on sm_90a, which counts as 4 warps along the rows) owns one contiguous block of the
// tile and covers it with instructions of the shape.
//
//     sm_90a, m64n256k16, tile 128 x 256, 8 warps along m, 1 along n: two warpgroups, 64 rows each
//     register 2:n*1 2:m*8 32:n*8   lane 4:n*2 8:m*1   warp 4:m*16 2:m*64
//
//     gfx942, m32n32k8, tile 128 x 64, 2 waves along m, 2 along n: each wave owns 64 x 32, two
//     instructions register 4:m*1 4:m*8 2:m*32   lane 32:n*1 2:m*4  warp 2:m*64 2:n*32
//
// Register digits that walk from instruction to instruction are ordered so that products chain
// without moving data: columns first on sm_90a (the accumulator S[m, n] is the first operand P[m,
// n] of the next product), rows first on gfx942 (the accumulator S[n, m] is the second operand P[n,
// m]: rows become the contracted axis).
//
// Sources: PTX ISA, "wgmma.mma_async", fragments D and A of m64nNk16; AMD Instinct MI300 ISA,
// V_MFMA_F32_32X32X8 and V_MFMA_F32_16X16X16 register layouts (the same as printed by AMD's matrix
// instruction calculator).

/// One axis of a product, its tile, and how many warps lie along it.
struct MmaSide {
  AxisId axis;
  int64_t tile = 1;
  int64_t warps = 1;
};

/// Is there such an instruction for operands of this type? The error names what there is.
Result<void> check_mma_shape(Target target, MmaShape shape, DType operand);

/// The accumulator [rows, columns], binary32. Error: a tile is not a multiple of what its warps
/// cover at once (on sm_90a warps along the rows come in fours).
Result<FragmentLayout> mma_accumulator_layout(Target target,
                                              MmaShape shape,
                                              const MmaSide& rows,
                                              const MmaSide& columns);

/// The first operand [rows, contraction] in registers, 16-bit elements; the `column_warps` hold
/// copies.
Result<FragmentLayout> mma_first_operand_layout(Target target,
                                                MmaShape shape,
                                                const MmaSide& rows,
                                                const MmaSide& contraction,
                                                int64_t column_warps);

/// The second operand [columns, contraction] in registers, 16-bit elements; the `row_warps` hold
/// copies. Only gfx942: wgmma reads it from shared memory.
Result<FragmentLayout> mma_second_operand_layout(Target target,
                                                 MmaShape shape,
                                                 const MmaSide& columns,
                                                 const MmaSide& contraction,
                                                 int64_t row_warps);

}  // namespace orrery::kernel
