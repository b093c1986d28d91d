// Rounding of whole arrays; round_to in interpret.h is the definition.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "orrery/interpret/interpret.h"

namespace orrery::interpret {

/// Every value becomes round_to(type, value).
void round_all(DType type, std::span<float> values);

}  // namespace orrery::interpret
