// Ranges: an option's text that stands for several values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"

namespace orrery::session {

// Parts between commas, each one value or a range; the ends of a range belong to it:
//
//     1,8,32            1, 8, 32
//     1..6              1, 2, 3, 4, 5, 6
//     0..4096+1024      0, 1024, 2048, 3072, 4096
//     1..256x2          1, 2, 4, ..., 256
//     1..8,16..64x2     1, 2, ..., 8, 16, 32, 64
//     0.5..0.9+0.1      0.5, 0.6, 0.7, 0.8, 0.9
//     bf16,fp8          bf16, fp8
//
// A step or a factor that does not meet the second end stops below it. Numbers of ranges have up to
// six decimals; between whole ends all values are whole (products rounded, none twice).

/// Would `text` be several values?
bool has_values(std::string_view text);

/// The values, in the order written. `option` names it in errors (InvalidInput): an empty part, an
/// end that is no number or below the start, a step or factor that never arrives, more than `most`
/// values, a value twice.
Result<std::vector<std::string>> expand_values(std::string_view option,
                                               std::string_view text,
                                               size_t most);

}  // namespace orrery::session
