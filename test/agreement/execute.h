// Calling compiled kernels on host tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cases.h"
#include "orrery/emit/emitter.h"
#include "orrery/runtime/host/library.h"

namespace orrery::agreement {

/// A compiled kernel: `library` was built from `source`, emitted for `program`.
struct Compiled {
  const kernel::Program& program;
  const emit::Source& source;
  const runtime::host::Library& library;
};

/// Calls it on `tensors`, which are found by name and written back. `more` are ints that follow the
/// source's arguments.
void execute(const Compiled& kernel,
             const kernel::Extents& extents,
             std::vector<interpret::HostTensor>& tensors,
             std::vector<int32_t> more = {});

}  // namespace orrery::agreement
