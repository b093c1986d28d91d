// decompose: rebuilds the operator list with composite operators written out.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/decompose.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "orrery/graph/infer.h"

namespace orrery::passes {

namespace {

using graph::OpKind;
using graph::ValueId;

class Decomposer {
 public:
  explicit Decomposer(const graph::Graph& graph) : data_(graph.data()) {}

  Result<graph::Graph> run() && {
    const std::vector<graph::Op> before = std::exchange(data_.ops, {});
    std::vector<size_t> moved(before.size() + 1);  // where an operator begins now
    for (size_t i = 0; i < before.size(); ++i) {
      moved[i] = data_.ops.size();
      if (before[i].kind == OpKind::Rotary) {
        ORR_TRY_VOID(rotary(before[i]));
      } else if (before[i].kind == OpKind::Relu2) {
        ORR_TRY_VOID(relu2(before[i]));
      } else if (before[i].kind == OpKind::QuickGelu) {
        ORR_TRY_VOID(quick_gelu(before[i]));
      } else {
        append(before[i]);
      }
    }
    moved.back() = data_.ops.size();
    for (graph::Repeat& repeat : data_.repeats) {
      repeat.first = moved[repeat.first];
      repeat.last = moved[repeat.last];
    }
    return graph::Graph::make(std::move(data_));
  }

 private:
  void append(graph::Op op) {
    data_.values[op.result.index()].producer = graph::OpId::from_index(data_.ops.size());
    data_.ops.push_back(std::move(op));
  }

  /// A new operator; its result is named after `whole` and lives where that does.
  Result<ValueId> add(std::string_view suffix,
                      const graph::Value& whole,
                      OpKind kind,
                      std::vector<ValueId> inputs,
                      graph::Attributes attributes = {}) {
    std::vector<graph::TensorType> types;
    for (const ValueId input : inputs) {
      types.push_back(data_.values[input.index()].type);
    }
    graph::Value value;
    value.name = whole.name + "." + std::string(suffix);
    value.repeat = whole.repeat;
    ORR_TRY(value.type, graph::infer(kind, types, attributes, data_.dims));
    const ValueId id = ValueId::from_index(data_.values.size());
    data_.values.push_back(std::move(value));
    append({kind, std::move(inputs), std::move(attributes), id});
    return id;
  }

  /// The first r of the last axis are turned; the rest, if any, is joined to them again.
  Result<void> rotary(const graph::Op& op) {
    const graph::Value whole = data_.values[op.result.index()];
    const int64_t all = whole.type.shape[3].fixed;
    const int64_t size = data_.values[op.inputs[1].index()].type.shape[1].fixed;
    const int64_t half = size / 2;
    const bool partial = size < all;
    ValueId x = op.inputs[0];
    if (partial) {
      ORR_TRY(x, add("turned", whole, OpKind::Slice, {x}, {.axis = 3, .size = size}));
    }
    ORR_TRY(const ValueId x1, add("x1", whole, OpKind::Slice, {x}, {.axis = 3, .size = half}));
    ORR_TRY(const ValueId x2,
            add("x2", whole, OpKind::Slice, {x}, {.axis = 3, .begin = half, .size = half}));
    ORR_TRY(const ValueId straight, add("cos", whole, OpKind::Mul, {x, op.inputs[1]}));
    ORR_TRY(const ValueId negated, add("neg", whole, OpKind::Neg, {x2}));
    ORR_TRY(const ValueId turned, add("cat", whole, OpKind::Cat, {negated, x1}, {.axis = 3}));
    ORR_TRY(const ValueId crossed, add("sin", whole, OpKind::Mul, {turned, op.inputs[2]}));
    if (!partial) {
      append({OpKind::Add, {straight, crossed}, {}, op.result});
      return {};
    }
    ORR_TRY(const ValueId sum, add("sum", whole, OpKind::Add, {straight, crossed}));
    ORR_TRY(const ValueId rest,
            add("rest",
                whole,
                OpKind::Slice,
                {op.inputs[0]},
                {.axis = 3, .begin = size, .size = all - size}));
    append({OpKind::Cat, {sum, rest}, {.axis = 3}, op.result});
    return {};
  }

  Result<void> relu2(const graph::Op& op) {
    const graph::Value whole = data_.values[op.result.index()];
    ORR_TRY(const ValueId relu, add("relu", whole, OpKind::Relu, {op.inputs[0]}));
    append({OpKind::Mul, {relu, relu}, {}, op.result});
    return {};
  }

  Result<void> quick_gelu(const graph::Op& op) {
    const graph::Value whole = data_.values[op.result.index()];
    const ValueId x = op.inputs[0];
    ORR_TRY(const ValueId scaled, add("scale", whole, OpKind::Scale, {x}, {.factor = 1.702}));
    ORR_TRY(const ValueId open, add("sigmoid", whole, OpKind::Sigmoid, {scaled}));
    append({OpKind::Mul, {x, open}, {}, op.result});
    return {};
  }

  graph::GraphData data_;
};

}  // namespace

namespace {

bool is_compiled(const Context& context) {
  return context.runtime == plan::Runtime::Inductor || context.runtime == plan::Runtime::Fused;
}

}  // namespace

Result<graph::Graph> decompose(const graph::Graph& graph, const Context& context) {
  if (is_compiled(context)) {
    return graph;
  }
  return Decomposer(graph).run();
}

std::optional<std::string> decompose_reads(const graph::Graph& graph, const Context& context) {
  const bool any = std::any_of(graph.ops().begin(), graph.ops().end(), [](const graph::Op& op) {
    return op.kind == OpKind::Rotary || op.kind == OpKind::Relu2 || op.kind == OpKind::QuickGelu;
  });
  return any && !is_compiled(context) ? std::optional<std::string>("") : std::nullopt;
}

}  // namespace orrery::passes
