// Builds a graph operator by operator; result types are inferred.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"

namespace orrery::graph {

// A frontend is mostly a list of operators, so errors wait: the first one is kept, what follows it
// is ignored, and build() returns it.
//
//     Builder b("tiny");
//     const Dim batch = b.dim("batch");
//     ValueId x = b.input("x", {DType::BF16, {batch, Dim(64)}});
//     const auto carried = b.begin_repeat("layer", 12, {{"h", x}});
//     const ValueId w = b.weight("w", {DType::BF16, {Dim(64), Dim(64)}});
//     const ValueId y = b.op("y", OpKind::Linear, {carried[0], w});
//     b.end_repeat({y});
//     b.output(y);
//     Result<Graph> graph = std::move(b).build();
class Builder {
 public:
  explicit Builder(std::string name);

  Dim dim(std::string_view name);
  ValueId input(std::string_view name, TensorType type);
  /// `outside`: the same tensor in each pass of the open repeat.
  ValueId weight(std::string_view name, TensorType type, bool outside = false);
  ValueId constant(std::string_view name, TensorType type);
  ValueId cache(std::string_view name, TensorType type);

  /// Appends an operator whose result is called `name`.
  ValueId op(std::string_view name,
             OpKind kind,
             std::vector<ValueId> inputs,
             Attributes attributes = {});

  struct Start {
    std::string name;  // inside the repeat
    ValueId value;
  };

  /// Opens a repeat that carries `starts`; gives the carried values.
  std::vector<ValueId> begin_repeat(std::string_view name,
                                    int64_t count,
                                    const std::vector<Start>& starts);
  /// Closes it: what each carried value becomes. After it these name the values of the last pass.
  void end_repeat(const std::vector<ValueId>& next);

  void output(ValueId value);

  /// The type of a value; that of a value after an error is empty.
  const TensorType& type(ValueId value) const;

  Result<Graph> build() &&;

 private:
  ValueId add(std::string_view name, TensorType type, ValueKind kind);

  GraphData data_;
  RepeatId open_;
  std::optional<Error> error_;
  TensorType none_;
};

}  // namespace orrery::graph
