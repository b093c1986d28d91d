// Element types on the CPU: storage, conversion, and their functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "orrery/base/dtype.h"
#include "orrery/emit/expression.h"

namespace orrery::emit::cpu {

/// The C++ type of one element in memory.
std::string_view storage(DType type);

/// `text` (a float) as an element, an element as a float, a float rounded to the type: calls of the
/// prelude.
std::string stored(DType type, std::string_view text);
std::string loaded(DType type, std::string_view text);
std::string rounded(DType type, std::string_view text);

/// Definitions that precede every function: conversions, maximum and minimum.
std::string_view prelude();

/// Single-precision functions of the C library.
const Dialect& dialect();

}  // namespace orrery::emit::cpu
