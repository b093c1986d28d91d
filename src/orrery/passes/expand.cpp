// expand: copies the operators of each repeat for its first, its middle and its last pass.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace orrery::passes {

namespace {

using graph::ValueId;

class Expander {
 public:
  explicit Expander(const graph::Graph& graph) : from_(graph), now_(graph.values().size()) {
    to_.name = graph.name();
    to_.dims = graph.dims();
  }

  Result<Expanded> run() && {
    const auto& repeats = from_.repeats();
    size_t next = 0;  // operator
    for (const graph::Repeat& repeat : repeats) {
      copy(next, repeat.first, "", 1);
      passes(repeat);
      next = repeat.last;
    }
    copy(next, from_.ops().size(), "", 1);
    for (const ValueId output : from_.outputs()) {
      to_.outputs.push_back(of(output, ""));
    }
    ORR_TRY(graph::Graph graph, graph::Graph::make(std::move(to_)));
    return Expanded{std::move(graph), std::move(times_)};
  }

 private:
  void passes(const graph::Repeat& repeat) {
    std::vector<ValueId> carried;
    for (const graph::Carry& carry : repeat.carries) {
      carried.push_back(of(carry.start, ""));
    }
    const int64_t count = std::min<int64_t>(repeat.count, 3);
    for (int64_t pass = 0; pass < count; ++pass) {
      for (size_t i = 0; i < now_.size(); ++i) {
        if (from_.values()[i].repeat.valid() && &from_[from_.values()[i].repeat] == &repeat) {
          now_[i] = ValueId{};
        }
      }
      for (size_t i = 0; i < carried.size(); ++i) {
        now_[repeat.carries[i].inside.index()] = carried[i];
      }
      const int64_t times = count == 3 && pass == 1 ? repeat.count - 2 : 1;
      copy(repeat.first, repeat.last, fmt::format("{}{}", kPassSuffix, pass), times);
      for (size_t i = 0; i < carried.size(); ++i) {
        carried[i] = of(repeat.carries[i].next, "");
      }
    }
    for (size_t i = 0; i < carried.size(); ++i) {
      now_[repeat.carries[i].inside.index()] = carried[i];
    }
  }

  /// What a value is called now; one that has no producer is made when it is first needed.
  ValueId of(ValueId id, const std::string& suffix) {
    ValueId& now = now_[id.index()];
    if (!now.valid()) {
      graph::Value value = from_[id];
      if (value.repeat.valid()) {
        value.name = from_[value.repeat].name + "." + value.name + suffix;
        value.repeat = {};
      }
      now = ValueId::from_index(to_.values.size());
      to_.values.push_back(std::move(value));
    }
    return now;
  }

  void copy(size_t first, size_t last, const std::string& suffix, int64_t times) {
    for (size_t i = first; i < last; ++i) {
      graph::Op op = from_.ops()[i];
      for (ValueId& input : op.inputs) {
        input = of(input, suffix);
      }
      op.result = of(op.result, suffix);
      to_.values[op.result.index()].producer = graph::OpId::from_index(to_.ops.size());
      to_.ops.push_back(std::move(op));
      times_.push_back(times);
    }
  }

  const graph::Graph& from_;
  graph::GraphData to_;
  std::vector<ValueId> now_;  // by value of the graph expanded
  std::vector<int64_t> times_;
};

}  // namespace

Result<Expanded> expand(const graph::Graph& graph) {
  return Expander(graph).run();
}

}  // namespace orrery::passes
