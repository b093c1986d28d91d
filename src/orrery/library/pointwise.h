// PyTorch's pointwise kernels: one value out of each value in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "pointwise". An operator is one kernel, or two where eager PyTorch writes an
/// intermediate result (where: comparison, selection; quantize_fp8: scaling, conversion).
std::unique_ptr<Family> read_pointwise(machine::NumberFile& file);

}  // namespace orrery::library
