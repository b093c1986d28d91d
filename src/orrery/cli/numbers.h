// Numbers in options, with messages that name the option.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "orrery/base/result.h"

namespace orrery::cli {

/// A whole number in [least, most].
Result<int64_t> whole(std::string_view option, std::string_view text, int64_t least, int64_t most);
/// A decimal number.
Result<double> decimal(std::string_view option, std::string_view text);

}  // namespace orrery::cli
