// The operator table, expanded.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/graph/op.h"

#include <algorithm>
#include <array>

namespace orrery::graph {

const std::vector<OpInfo>& all_ops() {
  static const std::vector<OpInfo> kOps = {
#define ORR_OP_INFO(enumerator, text, fewest, most, attributes) \
  {OpKind::enumerator, text, fewest, most, attributes},
      ORR_GRAPH_OPS(ORR_OP_INFO)
#undef ORR_OP_INFO
  };
  return kOps;
}

std::span<const AttributeInfo> all_attributes() {
  static constexpr std::array kAll = {
      AttributeInfo{kAxis, "axis", true, &Attributes::axis},
      AttributeInfo{kBegin, "begin", true, &Attributes::begin},
      AttributeInfo{kSize, "size", true, &Attributes::size},
      AttributeInfo{kOrder, "order", true, &Attributes::order},
      AttributeInfo{kShape, "shape", true, &Attributes::shape},
      AttributeInfo{kEpsilon, "epsilon", true, &Attributes::epsilon},
      AttributeInfo{kCausal, "causal", false, &Attributes::causal},
      AttributeInfo{kWindow, "window", false, &Attributes::window},
      AttributeInfo{kChunk, "chunk", false, &Attributes::chunk},
      AttributeInfo{kSoftCap, "soft_cap", false, &Attributes::soft_cap},
      AttributeInfo{kBiased, "biased", false, &Attributes::biased},
      AttributeInfo{kScheme, "scheme", false, &Attributes::scheme},
      AttributeInfo{kGroup, "group", false, &Attributes::group},
      AttributeInfo{kActivations, "activations", false, &Attributes::activations},
      AttributeInfo{kActivation, "activation", false, &Attributes::activation},
      AttributeInfo{kFactor, "factor", true, &Attributes::factor},
      AttributeInfo{kSources, "sources", false, &Attributes::sources},
  };
  return kAll;
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
