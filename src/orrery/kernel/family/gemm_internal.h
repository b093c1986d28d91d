// Shared by the parts of the GEMM family: which axis lies on the instruction's rows, and what is
// refused.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "orrery/kernel/family/build_internal.h"
#include "orrery/kernel/family/gemm.h"
#include "orrery/kernel/mma_layout.h"

namespace orrery::kernel {

/// n and k are promised to be multiples of it: rows of 2-byte elements start at 16-byte boundaries.
inline constexpr int64_t kGemmMultiple = 8;

/// The two sides of the product as the matrix instruction sees them. Axis 0 is m, axis 1 is n.
struct GemmSides {
  MmaSide rows;
  MmaSide columns;
  MmaShape instruction;
};

GemmSides gemm_sides(const GemmConfig& config);

/// Every reason why there is no such kernel, in one error.
Result<void> check_gemm(const GemmConfig& config);

std::vector<TensorId> add_epilogue_tensors(const Epilogue& epilogue,
                                           AxisId rows,
                                           AxisId cols,
                                           Build& build);

}  // namespace orrery::kernel
