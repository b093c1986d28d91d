// The one door through which passes run: off switch, timer, dump.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"
#include "orrery/passes/rewrites.h"
#include "orrery/plan/plan.h"

namespace orrery::passes {

/// What a pass did, for those who watch.
struct PassRan {
  std::string_view name;
  bool changed = false;
  int64_t nanoseconds = 0;              // 0 without a clock
  const graph::Graph* graph = nullptr;  // its result; none for the lowering
};

struct RunOptions {
  std::vector<std::string> off = {};               // passes not to run, by name
  std::function<int64_t()> clock = {};             // nanoseconds; wall time belongs to the caller
  std::function<void(const PassRan&)> watch = {};  // called after each pass
  Rewrites* known = nullptr;                       // used and added to, if given
};

/// Runs the pipeline and the lowering. (Graphs verify themselves when they are made.) Errors: an
/// unknown name in `off`; a pass' own, with its name as a note.
Result<plan::Plan> run(const graph::Graph& graph,
                       const Context& context,
                       const RunOptions& options = {});

}  // namespace orrery::passes
