// FlashAttention 2, forward: the kernel of many queries, split-KV and the kernel that combines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "flash" of a library file.
std::unique_ptr<Family> read_flash(machine::NumberFile& file);

}  // namespace orrery::library
