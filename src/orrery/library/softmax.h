// PyTorch's softmax and log-softmax over rows, and their backward.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "softmax".
std::unique_ptr<Family> read_softmax(machine::NumberFile& file);

}  // namespace orrery::library
