// The verifier of kernel programs: what a well-formed program is, as code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/result.h"
#include "orrery/kernel/program.h"

namespace orrery::kernel {

// Every reading of a program (interpreter, profile, emitters) may rely on what is checked here, and
// on nothing else. Rules are named; each offender is a note "[kernel.verify.<rule>] <who>: got X,
// need Y":
//
//     name id size expression     the program can be printed and read back
//     axis raster cluster         kinds, tiles, parts; the raster lists every grid axis once;
//     clusters of 1, 2, 4, 8 buffer shared layout        panels and swizzles are legal; a
//     fragment's digits hold every element once stage ring                  who may do what;
//     producers fill shared buffers, rings are filled by loads registers memory            what is
//     alive at once fits the thread; shared_plan fits the CTA load store map reduce mma   axes,
//     types, layouts of one statement; no two units write one element flow unused values are
//     written before they are read, and everything declared is used
//
// The first row is checked alone: later rules follow ids and would not make sense.

/// Error InvalidInput "[kernel.verify] kernel gemm: got 2 offenders, need none" with a note for
/// each offender.
Result<void> verify(const Program& program);

}  // namespace orrery::kernel
