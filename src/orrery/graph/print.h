// The text form of a graph (see graph.h); parse.h reads it back to an equal graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "orrery/graph/graph.h"

namespace orrery::graph {

/// Values are declared at their first place of use: inputs, weights and caches outside of repeats
/// at the top, those of a repeat at its head, results where they are assigned.
std::string print(const Graph& graph);

}  // namespace orrery::graph
