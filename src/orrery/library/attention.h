// Attention: FlashAttention 2 and cuDNN.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "flash".
std::unique_ptr<Family> read_flash(machine::NumberFile& file);
/// Section "attention".
std::unique_ptr<Family> read_cudnn_attention(machine::NumberFile& file);

}  // namespace orrery::library
