// PyTorch's kernels over rows x cols.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "pointwise".
std::unique_ptr<Family> read_pointwise(machine::NumberFile& file);
/// Section "norm".
std::unique_ptr<Family> read_norm(machine::NumberFile& file);
/// Section "softmax".
std::unique_ptr<Family> read_softmax(machine::NumberFile& file);
/// Section "gather".
std::unique_ptr<Family> read_gather(machine::NumberFile& file);

}  // namespace orrery::library
