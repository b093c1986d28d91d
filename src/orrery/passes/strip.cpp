// strip: keeps some operators, and the values that these need.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/strip.h"

#include <optional>
#include <utility>
#include <vector>

namespace orrery::passes {

namespace {

using graph::OpKind;
using graph::ValueId;

class Stripper {
 public:
  Stripper(const graph::Graph& graph, const StripOptions& options)
      : from_(graph), options_(options), now_(graph.values().size()) {}

  Result<graph::Graph> run() && {
    to_.name = from_.name();
    to_.dims = from_.dims();
    for (const graph::Repeat& repeat : from_.repeats()) {
      to_.repeats.push_back(repeat);
      to_.repeats.back().carries.clear();
    }
    size_t repeat = 0;  // the next one to open or to close
    for (size_t i = 0; i <= from_.ops().size(); ++i) {
      const auto& all = from_.repeats();
      if (repeat < all.size() && all[repeat].last == i) {
        close(repeat++);
      }
      if (repeat < all.size() && all[repeat].first == i) {
        open(repeat);
      }
      if (i < from_.ops().size()) {
        place(from_.ops()[i]);
      }
    }
    for (const ValueId output : from_.outputs()) {
      if (now_[output.index()]) {
        to_.outputs.push_back(*now_[output.index()]);
      }
    }
    if (to_.outputs.empty() && !to_.repeats.empty()) {
      to_.outputs.push_back(to_.repeats.back().carries.front().next);
    }
    return graph::Graph::make(std::move(to_));
  }

 private:
  /// The value that stands for `id` now; one that nobody makes is given from outside.
  ValueId of(ValueId id) {
    auto& now = now_[id.index()];
    if (!now) {
      graph::Value value = from_[id];
      if (value.kind == graph::ValueKind::Result) {
        value.kind = graph::ValueKind::Input;
        value.producer = {};
      }
      now = ValueId::from_index(to_.values.size());
      to_.values.push_back(std::move(value));
    }
    return *now;
  }

  void open(size_t index) {
    to_.repeats[index].first = to_.ops.size();
    for (const graph::Carry& carry : from_.repeats()[index].carries) {
      to_.repeats[index].carries.push_back({of(carry.inside), of(carry.start), {}});
    }
  }

  void close(size_t index) {
    to_.repeats[index].last = to_.ops.size();
    for (size_t i = 0; i < to_.repeats[index].carries.size(); ++i) {
      to_.repeats[index].carries[i].next = of(from_.repeats()[index].carries[i].next);
    }
  }

  void place(const graph::Op& op) {
    if (options_.outside && !from_[op.result].repeat.valid()) {
      return;
    }
    const bool alias = (options_.rotary && op.kind == OpKind::Rotary) ||
                       (options_.cache_writes && op.kind == OpKind::CacheWrite);
    if (alias) {
      now_[op.result.index()] = of(op.inputs[0]);
      return;
    }
    graph::Op moved = op;
    for (ValueId& input : moved.inputs) {
      input = of(input);
    }
    graph::Value value = from_[op.result];
    value.producer = graph::OpId::from_index(to_.ops.size());
    moved.result = ValueId::from_index(to_.values.size());
    now_[op.result.index()] = moved.result;
    to_.values.push_back(std::move(value));
    to_.ops.push_back(std::move(moved));
  }

  const graph::Graph& from_;
  const StripOptions& options_;
  std::vector<std::optional<ValueId>> now_;  // by value
  graph::GraphData to_;
};

}  // namespace

Result<graph::Graph> strip(const graph::Graph& graph, const StripOptions& options) {
  return Stripper(graph, options).run();
}

}  // namespace orrery::passes
