// expand: a graph with its repeats written out as far as their passes differ for a fuser.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"

namespace orrery::passes {

// A compiler sees no repeats: the last addition of one layer and the first norm of the next become
// one kernel. Three passes show all there is: the first, one that stands for all in the middle, the
// last.
//
//     repeat 80 layer: norm .. add        embedding | norm .. add | norm .. add | norm .. add |
//     norm runs                                        1            1           78            1 1
//
// A kernel that spans two passes runs as often as the pass of its last operator.

struct Expanded {
  graph::Graph graph;          // without repeats; values are called "layer.qkv.pass1"
  std::vector<int64_t> times;  // how often each operator runs
};

/// What follows a name in the names of its values' passes.
inline constexpr std::string_view kPassSuffix = ".pass";

Result<Expanded> expand(const graph::Graph& graph);

}  // namespace orrery::passes
