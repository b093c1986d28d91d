// The text that every emitted kernel begins with: types, PTX wrappers, register tiles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "orrery/emit/cuda/context_internal.h"

namespace orrery::emit::cuda {

/// Types, conversions, barriers, tensor copies, register tiles; and the wgmma wrappers and copy
/// ranks in use.
std::string prelude(const Context& context);

/// One wgmma wrapper. PTX ISA, "wgmma.mma_async": accumulators, first operand (descriptor or 4
/// registers), second operand (descriptor), scale-d (0: overwrite), and for shared operands whether
/// they are stored transposed.
std::string mma_wrapper(const MmaInstruction& instruction);

}  // namespace orrery::emit::cuda
