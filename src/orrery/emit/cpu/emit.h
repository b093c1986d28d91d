// The CPU emitter: a kernel program as plain C++.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/result.h"
#include "orrery/emit/emitter.h"
#include "orrery/kernel/program.h"

namespace orrery::emit::cpu {

struct Options {
  bool openmp = false;  // units in parallel; they must not update the same elements

  bool operator==(const Options&) const = default;
};

/// C++20 that needs the standard library only: loops over units, phases and tiles, in the order and
/// with the rounding of program.h, so that it gives the interpreter's bits. Compile it with
/// Source::options.
///
/// Two functions with C linkage: `entry(tensor pointers..., int32 extents...)`, and
/// `entry_packed(void** arguments)` which takes the address of every argument (as launch calls of
/// GPUs do).
///
/// Error Unsupported: an element type without a host form here; all of them are named.
Result<Source> emit(const kernel::Program& program, const Options& options = {});

/// Types of element that emitted code can store: f32, f16, bf16, i32. Bytes as in memory.
bool has_host_type(DType type);

}  // namespace orrery::emit::cpu
