// lower_fused: expand, fuse, lower.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/lower_fused.h"

#include "orrery/passes/fuse.h"
#include "orrery/passes/lower_framework.h"
#include "orrery/plan/memory.h"

namespace orrery::passes {

namespace {

Result<plan::Plan> lowered(const graph::Graph& graph,
                           const Context& context,
                           Rewrites& known,
                           const FuseRules& rules) {
  ORR_TRY(const Expanded* const expanded, known.expanded(graph));
  const Grouping grouping = fuse(expanded->graph, context.sizes, rules);
  ORR_TRY(plan::Plan plan, lower_grouped(*expanded, grouping, context));
  plan.memory = plan::memory_of(graph, context.sizes);
  return plan;
}

}  // namespace

Result<plan::Plan> lower_inductor(const graph::Graph& graph,
                                  const Context& context,
                                  Rewrites& known) {
  return lowered(graph, context, known, {});
}

Result<plan::Plan> lower_fully_fused(const graph::Graph& graph,
                                     const Context& context,
                                     Rewrites& known) {
  return lowered(graph, context, known, {.into_products = true});
}

}  // namespace orrery::passes
