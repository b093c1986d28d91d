// Requests of a mixed step: their short form and their file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/passes/context.h"

namespace orrery::session {

// "1x2048@8192,192x1@512": one sequence of 2048 new tokens behind 8192 that its cache holds, and
// 192 sequences of one new token behind 512 each. `1x` and `@0` may be left out. A file is a CSV
// table with the columns chunk (new tokens) and context (tokens in the cache), a row a sequence.

/// The requests of `text`: the short form, or else the path of a file. Errors: sizes of 0 new
/// tokens, more than 65536 sequences or 2^26 tokens, what is no such table.
Result<std::vector<passes::Request>> read_requests(const std::string& text);

Result<std::vector<passes::Request>> parse_requests(std::string_view text);

}  // namespace orrery::session
