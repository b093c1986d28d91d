// NVIDIA GPUs through the driver API.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/base/result.h"
#include "orrery/runtime/cuda/compiler.h"
#include "orrery/runtime/device.h"

namespace orrery::runtime::cuda {

/// GPU number `ordinal`, in its primary context (the one that PyTorch and the CUDA runtime use, so
/// their pointers and streams are valid here). Errors: no driver, no such GPU, or one that is not
/// sm_90 (emitted code is sm_90a).
Result<std::unique_ptr<Device>> open(Compiler compiler, int ordinal = 0);

}  // namespace orrery::runtime::cuda
