// The operator table, expanded.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/graph/op.h"

#include <algorithm>

namespace orrery::graph {

const std::vector<OpInfo>& all_ops() {
  static const std::vector<OpInfo> ops = {
#define ORR_OP_INFO(enumerator, text, fewest, most, attributes) \
  {OpKind::enumerator, text, fewest, most, attributes},
      ORR_GRAPH_OPS(ORR_OP_INFO)
#undef ORR_OP_INFO
  };
  return ops;
}

const OpInfo& info(OpKind kind) {
  return all_ops()[static_cast<size_t>(kind)];
}

std::string_view name(OpKind kind) {
  return info(kind).name;
}

std::optional<OpKind> find_op(std::string_view name) {
  const auto& ops = all_ops();
  const auto found =
      std::find_if(ops.begin(), ops.end(), [name](const OpInfo& op) { return op.name == name; });
  return found == ops.end() ? std::nullopt : std::optional(found->kind);
}

}  // namespace orrery::graph
