// Reads the text form of a graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"

namespace orrery::graph {

/// The graph that print() wrote as `text`, or an error with line and column; the result is
/// verified.
Result<Graph> parse(std::string_view text);

}  // namespace orrery::graph
