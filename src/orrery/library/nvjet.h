// nvjet: cuBLAS' own GEMM kernels for sm_90.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "nvjet".
std::unique_ptr<Family> read_nvjet(machine::NumberFile& file);

}  // namespace orrery::library
