// The HIP emitter: the source of a kernel program for gfx942.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/emit/emitter.h"
#include "orrery/kernel/program.h"

namespace orrery::emit::hip {

/// HIP C++ that needs no headers, entry `extern "C"`, shared memory (LDS) declared statically. One
/// stage does everything: its waves fetch tiles from global memory into registers, write them into
/// the ring in LDS, and compute meanwhile on the tile before. Every loop over registers is unrolled
/// and no other, and LDS is accessed as code_counts.h says, so that the object's instructions can
/// be counted against the profile's.
///
/// Needs a verified program of target gfx942. Error Unsupported: what this emitter has no lowering
/// for, naming it.
Result<Source> emit(const kernel::Program& program);

/// Arguments of clang++-19 that make a loadable code object of a source file, `-o` and names apart.
std::vector<std::string> compile_options();

}  // namespace orrery::emit::hip
