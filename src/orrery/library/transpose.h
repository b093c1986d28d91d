// PyTorch's transposing copy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "transpose".
std::unique_ptr<Family> read_transpose(machine::NumberFile& file);

}  // namespace orrery::library
