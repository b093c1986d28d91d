// full_window.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/full_window.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace orrery::passes {

namespace {

/// Tokens of the longest sequence that attends to a value of so many keys.
int64_t longest(int64_t keys, const Context& context) {
  int64_t most = context.requests.empty() ? keys : 0;
  for (const Request& request : context.requests) {
    most = std::max(most, request.tokens + request.cached);
  }
  return most;
}

/// What of an attention covers all its keys.
struct Covers {
  bool window = false;
  bool chunk = false;
};

Covers covers(const graph::Graph& graph, const graph::Op& op, const Context& context) {
  const int64_t keys = longest(context.sizes(graph[op.inputs[1]].type.shape[2]), context);
  return {.window = keys <= op.attributes.window, .chunk = keys <= op.attributes.chunk};
}

}  // namespace

Result<graph::Graph> full_window(const graph::Graph& graph, const Context& context) {
  graph::GraphData data = graph.data();
  for (graph::Op& op : data.ops) {
    if (op.kind == graph::OpKind::Attention) {
      const Covers all = covers(graph, op, context);
      op.attributes.window = all.window ? 0 : op.attributes.window;
      op.attributes.chunk = all.chunk ? 0 : op.attributes.chunk;
    }
  }
  return graph::Graph::make(std::move(data));
}

std::optional<std::string> full_window_reads(const graph::Graph& graph, const Context& context) {
  std::string which;
  bool any = false;
  for (const graph::Op& op : graph.ops()) {
    if (op.kind == graph::OpKind::Attention) {
      const Covers all = covers(graph, op, context);
      which += all.window ? 'w' : '-';
      which += all.chunk ? 'c' : '-';
      any = any || all.window || all.chunk;
    }
  }
  return any ? std::optional(std::move(which)) : std::nullopt;
}

}  // namespace orrery::passes
