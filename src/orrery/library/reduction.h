// PyTorch's reductions: sums, means, maxima, variances, argmax over rows, columns or everything.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "reduction".
std::unique_ptr<Family> read_reduction(machine::NumberFile& file);

}  // namespace orrery::library
