// Encoding tensor copy descriptors for a tensor's address and extents.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/result.h"
#include "orrery/emit/emitter.h"
#include "orrery/kernel/program.h"
#include "orrery/runtime/cuda/driver.h"

namespace orrery::runtime::cuda {

/// The descriptor of `map` for the dense row-major tensor at `address`. Errors: InvalidInput if
/// rows do not start at 16-byte boundaries (CUDA Driver API, cuTensorMapEncodeTiled), or whatever
/// the driver refuses.
Result<TensorMapBytes> encode(const Driver& driver,
                              const kernel::Program& program,
                              const emit::TensorMap& map,
                              void* address,
                              const kernel::Extents& extents);

}  // namespace orrery::runtime::cuda
