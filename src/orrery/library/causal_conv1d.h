// Causal convolutions along the tokens: the kernels of causal-conv1d.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "causal_conv1d": Conv1dCall.
std::unique_ptr<Family> read_causal_conv1d(machine::NumberFile& file);

}  // namespace orrery::library
