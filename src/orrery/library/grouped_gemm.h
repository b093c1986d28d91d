// Grouped GEMM: CUTLASS under torch._grouped_mm, one product per expert.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "grouped_gemm" of a library file.
std::unique_ptr<Family> read_grouped_gemm(machine::NumberFile& file);

}  // namespace orrery::library
