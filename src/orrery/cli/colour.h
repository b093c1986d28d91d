// Colours of a terminal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace orrery::cli {

/// `text` with the time in bold, what does not fit in red and warnings in yellow. For terminals
/// only: programs that read the text want it plain.
std::string coloured(std::string_view text);

}  // namespace orrery::cli
