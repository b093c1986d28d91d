// Operators of a graph: the kinds, and what the table in op_list.h says of each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "orrery/graph/op_list.h"
#include "orrery/graph/scheme.h"
#include "orrery/graph/shape.h"

namespace orrery::graph {

enum class OpKind {
#define ORR_OP_ENUMERATOR(enumerator, text, fewest, most, attributes) enumerator,
  ORR_GRAPH_OPS(ORR_OP_ENUMERATOR)
#undef ORR_OP_ENUMERATOR
};

/// Which attributes an operator has: a set of these bits.
enum AttributeBits : uint32_t {
  kNoAttribute = 0,
  kAxis = 1U << 0U,
  kBegin = 1U << 1U,
  kSize = 1U << 2U,
  kOrder = 1U << 3U,
  kShape = 1U << 4U,
  kEpsilon = 1U << 5U,
  kCausal = 1U << 6U,
  kWindow = 1U << 7U,
  kChunk = 1U << 8U,
  kSoftCap = 1U << 9U,
  kBiased = 1U << 10U,
  kScheme = 1U << 11U,
  kGroup = 1U << 12U,
  kActivations = 1U << 13U,
  kActivation = 1U << 14U,
  kFactor = 1U << 15U,
  kSources = 1U << 16U,
};

/// The attributes of one operator; those it does not have keep their defaults.
struct Attributes {
  int64_t axis = 0;
  int64_t begin = 0;
  int64_t size = 0;
  std::vector<int64_t> order = {};
  Shape shape = {};
  double epsilon = 0;
  bool causal = false;
  int64_t window = 0;   // a query sees at most this many of the newest keys; 0: all
  int64_t chunk = 0;    // a query sees the keys of its own chunk of so many tokens; 0: all
  double soft_cap = 0;  // scores become cap * tanh(score / cap); 0: none
  bool biased = false;  // a bias by distance is added to the scores
  Scheme scheme = Scheme::None;
  int64_t group = 0;                // of Scheme::Group
  DType activations = DType::BF16;  // as they enter a quantised product
  OpKind activation = OpKind::Add;  // of experts; Add: none
  int64_t sources = 1;              // of rows for experts
  double factor = 0;

  bool operator==(const Attributes&) const = default;
};

/// One attribute: its key in text forms and where it is kept. One that is not required is left out
/// of the text where it has its default.
struct AttributeInfo {
  AttributeBits bit;
  std::string_view key;
  bool required;
  std::variant<int64_t Attributes::*,
               double Attributes::*,
               bool Attributes::*,
               std::vector<int64_t> Attributes::*,
               Shape Attributes::*,
               Scheme Attributes::*,
               DType Attributes::*,
               OpKind Attributes::*>
      member;
};

/// Every attribute, in the order of text forms.
std::span<const AttributeInfo> all_attributes();

/// One row of the table.
struct OpInfo {
  OpKind kind;
  std::string_view name;
  size_t fewest_inputs;
  size_t most_inputs;
  uint32_t attributes;  // AttributeBits

  bool has(AttributeBits bit) const { return (attributes & bit) != 0; }
};

const OpInfo& info(OpKind kind);
std::string_view name(OpKind kind);
std::optional<OpKind> find_op(std::string_view name);

/// Every operator, in the table's order.
const std::vector<OpInfo>& all_ops();

}  // namespace orrery::graph
