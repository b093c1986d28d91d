// FlashAttention 2, backward: the gradients of q, k and v.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "flash_backward" of a library file; its blocks are as those of section "flash".
std::unique_ptr<Family> read_flash_backward(machine::NumberFile& file);

}  // namespace orrery::library
