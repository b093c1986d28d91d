// A loaded CUDA kernel and its prepared launches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/emit/emitter.h"
#include "orrery/runtime/cuda/cubin.h"
#include "orrery/runtime/cuda/driver.h"
#include "orrery/runtime/device.h"

namespace orrery::runtime::cuda {

/// Where a kernel lives.
struct Home {
  std::shared_ptr<const Driver> driver;
  ContextHandle context = nullptr;
  int multiprocessors = 0;
};

Result<std::unique_ptr<Kernel>> load_kernel(Home home,
                                            const kernel::Program& program,
                                            emit::Source source,
                                            const Cubin& cubin);

}  // namespace orrery::runtime::cuda
