// The device of a machine without a GPU: compiles every kernel, launches none.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/runtime/cuda/compiler.h"
#include "orrery/runtime/device.h"

namespace orrery::runtime::null {

/// With it everything up to the launch works and is tested without hardware; launch() says what is
/// missing.
std::unique_ptr<Device> open(cuda::Compiler compiler);

}  // namespace orrery::runtime::null
