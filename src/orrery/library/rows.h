// PyTorch's kernels that gather rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "gather".
std::unique_ptr<Family> read_gather(machine::NumberFile& file);

}  // namespace orrery::library
