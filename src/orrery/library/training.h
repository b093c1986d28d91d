// PyTorch's kernels of a training step beside the backward passes: loss and optimizer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "training": cross_entropy (mean over rows), adamw (fused, one tensor, states in its
/// type).
std::unique_ptr<Family> read_training(machine::NumberFile& file);

}  // namespace orrery::library
