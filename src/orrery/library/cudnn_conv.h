// Convolution: cuDNN's kernels, and PyTorch's own for depthwise ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "conv".
std::unique_ptr<Family> read_cudnn_conv(machine::NumberFile& file);

}  // namespace orrery::library
