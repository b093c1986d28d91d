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

}  // namespace

Result<graph::Graph> full_window(const graph::Graph& graph, const Context& context) {
  graph::GraphData data = graph.data();
  for (graph::Op& op : data.ops) {
    if (op.kind == graph::OpKind::Attention) {
      const graph::Dim keys = data.values[op.inputs[1].index()].type.shape[2];
      const int64_t count = longest(context.sizes(keys), context);
      op.attributes.window = count <= op.attributes.window ? 0 : op.attributes.window;
      op.attributes.chunk = count <= op.attributes.chunk ? 0 : op.attributes.chunk;
    }
  }
  return graph::Graph::make(std::move(data));
}

}  // namespace orrery::passes
