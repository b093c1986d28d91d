// Memory-efficient attention (CUTLASS under PyTorch): what takes head sizes beyond 256 and values
// of another size than the keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "efficient_attention" of a library file.
std::unique_ptr<Family> read_efficient_attention(machine::NumberFile& file);

}  // namespace orrery::library
