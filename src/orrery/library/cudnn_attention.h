// cuDNN's attention: prefill and decode.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "attention" of a library file.
std::unique_ptr<Family> read_cudnn_attention(machine::NumberFile& file);

}  // namespace orrery::library
