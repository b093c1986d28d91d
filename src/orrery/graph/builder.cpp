// The graph builder.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/graph/builder.h"

#include <utility>

#include "orrery/graph/infer.h"

namespace orrery::graph {

Builder::Builder(std::string name) {
  data_.name = std::move(name);
}

Dim Builder::dim(std::string_view name) {
  data_.dims.emplace_back(name);
  return Dim(DimId::from_index(data_.dims.size() - 1));
}

ValueId Builder::add(std::string_view name, TensorType type, ValueKind kind) {
  Value value;
  value.name = name;
  value.type = std::move(type);
  value.kind = kind;
  value.repeat = open_;
  data_.values.push_back(std::move(value));
  return ValueId::from_index(data_.values.size() - 1);
}

ValueId Builder::input(std::string_view name, TensorType type) {
  return add(name, std::move(type), ValueKind::Input);
}

ValueId Builder::weight(std::string_view name, TensorType type, bool outside) {
  const ValueId id = add(name, std::move(type), ValueKind::Weight);
  if (outside) {
    data_.values.back().repeat = {};
  }
  return id;
}

ValueId Builder::constant(std::string_view name, TensorType type) {
  return add(name, std::move(type), ValueKind::Constant);
}

ValueId Builder::cache(std::string_view name, TensorType type) {
  return add(name, std::move(type), ValueKind::Cache);
}

ValueId Builder::op(std::string_view name,
                    OpKind kind,
                    std::vector<ValueId> inputs,
                    Attributes attributes) {
  if (error_) {
    return {};
  }
  std::vector<TensorType> types;
  for (const ValueId input : inputs) {
    types.push_back(type(input));
  }
  Result<TensorType> result = infer(kind, types, attributes, data_.dims);
  if (!result.ok()) {
    error_ = result.error().with_note(fmt::format("at '{}' of graph '{}'", name, data_.name));
    return {};
  }
  const ValueId value = add(name, *std::move(result), ValueKind::Result);
  data_.values.back().producer = OpId::from_index(data_.ops.size());
  data_.ops.push_back({kind, std::move(inputs), std::move(attributes), value});
  return value;
}

std::vector<ValueId> Builder::begin_repeat(std::string_view name,
                                           int64_t count,
                                           const std::vector<Start>& starts) {
  ORR_CHECK(!open_.valid()) << "repeats do not nest";
  open_ = RepeatId::from_index(data_.repeats.size());
  Repeat repeat;
  repeat.name = name;
  repeat.count = count;
  repeat.first = data_.ops.size();
  std::vector<ValueId> inside;
  for (const Start& start : starts) {
    inside.push_back(add(start.name, type(start.value), ValueKind::Carried));
    repeat.carries.push_back({inside.back(), start.value, {}});
  }
  data_.repeats.push_back(std::move(repeat));
  return inside;
}

void Builder::end_repeat(const std::vector<ValueId>& next) {
  ORR_CHECK(open_.valid()) << "no repeat is open";
  Repeat& repeat = data_.repeats.back();
  ORR_CHECK(next.size() == repeat.carries.size()) << next.size() << " for " << repeat.name;
  for (size_t i = 0; i < next.size(); ++i) {
    repeat.carries[i].next = next[i];
  }
  repeat.last = data_.ops.size();
  open_ = {};
}

void Builder::output(ValueId value) {
  data_.outputs.push_back(value);
}

const TensorType& Builder::type(ValueId value) const {
  return value.valid() ? data_.values[value.index()].type : none_;
}

Result<Graph> Builder::build() && {
  if (error_) {
    return *error_;
  }
  return Graph::make(std::move(data_));
}

}  // namespace orrery::graph
