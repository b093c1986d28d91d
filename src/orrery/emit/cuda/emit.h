// The CUDA emitter: the source of a kernel program for sm_90a.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/result.h"
#include "orrery/emit/emitter.h"
#include "orrery/kernel/program.h"

namespace orrery::emit::cuda {

/// CUDA C++ for NVRTC (no headers needed), entry `extern "C"`. What follows from the data flow and
/// is not in the program is decided here: barriers, addresses, descriptors, which thread does what.
/// The same program gives the same text. Cost: tens of microseconds.
///
/// Needs a verified program (kernel/verify.h) of target sm_90a. Error Unsupported: a statement that
/// this emitter has no lowering for, naming it.
Result<Source> emit(const kernel::Program& program);

}  // namespace orrery::emit::cuda
