// Graphs: verified on making, hashed by their text, and the numbers of their named extents.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/graph/graph.h"

#include <algorithm>
#include <limits>

#include "orrery/base/hash.h"
#include "orrery/base/text.h"
#include "orrery/graph/print.h"
#include "orrery/graph/verify.h"

namespace orrery::graph {

std::string_view name(ValueKind kind) {
  switch (kind) {
    case ValueKind::Input:
      return "input";
    case ValueKind::Weight:
      return "weight";
    case ValueKind::Constant:
      return "constant";
    case ValueKind::Cache:
      return "cache";
    case ValueKind::Carried:
      return "carry";
    case ValueKind::Result:
      return "result";
  }
  ORR_UNREACHABLE();
}

namespace {

/// Values in the order in which the text form declares them, so that equal graphs are equal data.
std::vector<ValueId> text_order(const GraphData& data) {
  std::vector<ValueId> order;
  const auto declare = [&](RepeatId repeat) {
    for (size_t i = 0; i < data.values.size(); ++i) {
      const Value& value = data.values[i];
      const bool assigned = value.kind == ValueKind::Result || value.kind == ValueKind::Carried;
      if (!assigned && value.repeat == repeat) {
        order.push_back(ValueId::from_index(i));
      }
    }
  };
  declare({});
  size_t next_op = 0;
  const auto run_to = [&](size_t last) {
    for (; next_op < last; ++next_op) {
      order.push_back(data.ops[next_op].result);
    }
  };
  for (size_t i = 0; i < data.repeats.size(); ++i) {
    run_to(data.repeats[i].first);
    for (const Carry& carry : data.repeats[i].carries) {
      order.push_back(carry.inside);
    }
    declare(RepeatId::from_index(i));
    run_to(data.repeats[i].last);
  }
  run_to(data.ops.size());
  return order;
}

/// The same graph with value order[i] as number i.
GraphData renumber(GraphData data, const std::vector<ValueId>& order) {
  std::vector<ValueId> to(data.values.size());
  std::vector<Value> values;
  values.reserve(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    to[order[i].index()] = ValueId::from_index(i);
    values.push_back(std::move(data.values[order[i].index()]));
  }
  data.values = std::move(values);
  for (Op& op : data.ops) {
    op.result = to[op.result.index()];
    for (ValueId& input : op.inputs) {
      input = to[input.index()];
    }
  }
  for (Repeat& repeat : data.repeats) {
    for (Carry& carry : repeat.carries) {
      carry = {to[carry.inside.index()], to[carry.start.index()], to[carry.next.index()]};
    }
  }
  for (ValueId& output : data.outputs) {
    output = to[output.index()];
  }
  return data;
}

}  // namespace

Result<Graph> Graph::make(GraphData data) {
  ORR_TRY_VOID(verify(data));
  const std::vector<ValueId> order = text_order(data);
  ORR_CHECK(order.size() == data.values.size()) << "a verified graph declares each value once";
  return Graph(renumber(std::move(data), order));
}

uint64_t Graph::hash() const {
  return hash_bytes(print(*this));
}

Result<Sizes> Sizes::bind(const Graph& graph,
                          std::span<const std::pair<std::string, int64_t>> values) {
  Sizes sizes;
  sizes.values_.assign(graph.dims().size(), 0);
  std::vector<std::string> wrong;
  for (const auto& [name, value] : values) {
    const auto found = std::find(graph.dims().begin(), graph.dims().end(), name);
    if (found == graph.dims().end()) {
      wrong.push_back(fmt::format("'{}' is no extent of graph '{}'", name, graph.name()));
    } else if (value <= 0) {
      wrong.push_back(fmt::format("{}: got {}, need at least 1", name, value));
    } else {
      sizes.values_[static_cast<size_t>(found - graph.dims().begin())] = value;
    }
  }
  for (size_t i = 0; i < sizes.values_.size(); ++i) {
    if (sizes.values_[i] == 0 && wrong.empty()) {
      wrong.push_back(fmt::format("{}: got no value, need one", graph.dims()[i]));
    }
  }
  if (!wrong.empty()) {
    return make_error(ErrorCode::InvalidInput, "[graph.sizes] {}", join(wrong, "; "));
  }
  return sizes;
}

std::vector<int64_t> Sizes::operator()(const Shape& shape) const {
  std::vector<int64_t> extents;
  extents.reserve(shape.size());
  for (const Dim dim : shape) {
    extents.push_back((*this)(dim));
  }
  return extents;
}

int64_t Sizes::elements(const Shape& shape) const {
  int64_t product = 1;
  for (const Dim dim : shape) {
    if (__builtin_mul_overflow(product, (*this)(dim), &product)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return product;
}

Bytes Sizes::bytes(const TensorType& type) const {
  return static_cast<double>(elements(type.shape)) * element_size(type.dtype);
}

}  // namespace orrery::graph
