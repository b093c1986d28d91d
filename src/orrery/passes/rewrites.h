// Rewrites: what has been made of graphs, kept for the next run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"
#include "orrery/passes/expand.h"

namespace orrery::passes {

struct Pass;

/// Steps of a model differ in sizes, of which passes read little: most steps go through the same
/// graphs. This keeps what each pass made of each graph under each thing it reads, and graphs
/// without repeats; when they are many, it forgets them all. The graphs it is used with must
/// outlive it. Not for several threads at once.
class Rewrites {
 public:
  /// What `pass` makes of `from`, where it reads `reads`; holds until the next call of tidy.
  Result<const graph::Graph*> graph(const Pass& pass,
                                    const graph::Graph& from,
                                    const Context& context,
                                    const std::string& reads);
  /// `from` without repeats (expand.h); holds as long.
  Result<const Expanded*> expanded(const graph::Graph& from);

  /// Between runs: forgets, if there is much.
  void tidy();

 private:
  using Asked = std::tuple<const graph::Graph*, const Pass*, std::string>;

  std::map<Asked, std::unique_ptr<const graph::Graph>> made_;
  std::map<const graph::Graph*, std::unique_ptr<const Expanded>> expanded_;
};

}  // namespace orrery::passes
