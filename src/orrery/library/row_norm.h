// PyTorch's normalisations: layer, RMS, group and batch norm, and the backward of the first two.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "norm". group_norm has 32 groups of columns (one where 32 does not divide them),
/// batch_norm normalises columns over rows in training mode.
std::unique_ptr<Family> read_norm(machine::NumberFile& file);

}  // namespace orrery::library
