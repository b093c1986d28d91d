// Names that emitted sources give to the parts of a program, and the arguments of its function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/emit/emitter.h"
#include "orrery/kernel/program.h"

namespace orrery::emit {

// A program's names may be any word, also one that C++ keeps for itself, so each kind has an affix
// of its own:
//
//     acc_     buffer acc           in_A, out_C   tensor A (read), C (written or updated)
//     size_m   symbol m             at_m          first element of the current tile along axis m
//     i_m      element of the tile along axis m

std::string buffer_name(const kernel::Program& program, kernel::BufferId buffer);
std::string tensor_name(const kernel::Program& program, kernel::TensorId tensor);
std::string corner_name(const kernel::Program& program, kernel::AxisId axis);
std::string index_name(const kernel::Program& program, kernel::AxisId axis);

/// The run-time extent of an axis: its symbol's name, or the number.
std::string extent_name(const kernel::Program& program, kernel::AxisId axis);

/// Symbols of the program in the order of the axes that use them first.
std::vector<std::string> symbols(const kernel::Program& program);

/// A pointer for every tensor, then an int32 for every symbol.
std::vector<Argument> plain_arguments(const kernel::Program& program);

}  // namespace orrery::emit
