// The one door through which passes run: off switch, timer, dump.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"
#include "orrery/passes/pipeline.h"
#include "orrery/plan/plan.h"

namespace orrery::passes {

/// What passes have made of graphs, for the next run of the same graph: steps of a model differ in
/// sizes, of which passes read little. It grows by one graph for each pass and each thing read, and
/// forgets them all when they are many. The graphs it was used with must outlive it. Not for
/// several threads at once.
class Rewrites {
 public:
  /// What `pass` makes of `from`, whose `reads` are given; holds until the next call of tidy.
  Result<const graph::Graph*> graph(const Pass& pass,
                                    const graph::Graph& from,
                                    const Context& context,
                                    const std::string& reads);
  void tidy();

 private:
  using Asked = std::tuple<const graph::Graph*, const Pass*, std::string>;

  std::map<Asked, std::unique_ptr<const graph::Graph>> made_;
};

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
