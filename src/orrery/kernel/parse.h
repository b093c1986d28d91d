// The text form of kernel programs, read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "orrery/base/result.h"
#include "orrery/kernel/program.h"

namespace orrery::kernel {

/// The program that `text` describes; print.h shows the form. `kernel` and `target` come first,
/// then declarations in any order (a name is declared before it is used; only `parts` may look
/// ahead), then the phases. Each declaration and each statement has a line of its own; blank lines,
/// indentation and // comments are free. Names are told apart within axes, within stages, and
/// within tensors and buffers together. Error ParseError: "[kernel.parse] line 4, column 9: got
/// 'tils', need 'tile'". A program that parses may still be ill-formed: ask verify. Linear in the
/// text, which may have 1 MiB at most.
Result<Program> parse(std::string_view text);

}  // namespace orrery::kernel
