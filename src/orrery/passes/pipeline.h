// The list of passes: what happens to a graph, in order, and why.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"
#include "orrery/passes/rewrites.h"
#include "orrery/plan/plan.h"

namespace orrery::passes {

/// One pass of graph to graph.
struct Pass {
  std::string_view name;
  Result<graph::Graph> (*run)(const graph::Graph&, const Context&);
  /// All that its result depends on beside the graph, as a text; nothing where it leaves the graph
  /// as it is, and then it is not run.
  std::optional<std::string> (*reads)(const graph::Graph&, const Context&);
  std::string_view why;
};

/// The step from graph to plan, by runtime.
struct Lowering {
  std::string_view name;
  Result<plan::Plan> (*run)(const graph::Graph&, const Context&, Rewrites&);
  std::string_view why;
};

std::span<const Pass> all_passes();
const Lowering& lowering_for(plan::Runtime runtime);

}  // namespace orrery::passes
