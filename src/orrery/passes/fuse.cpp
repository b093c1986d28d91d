// fuse: grows groups operator by operator.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/fuse.h"

#include <algorithm>
#include <array>
#include <utility>

namespace orrery::passes {

namespace {

using graph::OpKind;
using graph::ValueId;

enum class Class { View, Pointwise, Reduction, Library };

struct ClassOf {
  OpKind kind;
  Class in;
};

/// Kinds that are not listed are a library's.
constexpr std::array kClasses = {
    ClassOf{OpKind::Slice, Class::View},          ClassOf{OpKind::Reshape, Class::View},
    ClassOf{OpKind::Permute, Class::View},        ClassOf{OpKind::Expand, Class::View},
    ClassOf{OpKind::Add, Class::Pointwise},       ClassOf{OpKind::Mul, Class::Pointwise},
    ClassOf{OpKind::Neg, Class::Pointwise},       ClassOf{OpKind::Silu, Class::Pointwise},
    ClassOf{OpKind::Gelu, Class::Pointwise},      ClassOf{OpKind::Scale, Class::Pointwise},
    ClassOf{OpKind::Clamp, Class::Pointwise},     ClassOf{OpKind::GeluTanh, Class::Pointwise},
    ClassOf{OpKind::QuickGelu, Class::Pointwise}, ClassOf{OpKind::Relu, Class::Pointwise},
    ClassOf{OpKind::Relu2, Class::Pointwise},     ClassOf{OpKind::Sigmoid, Class::Pointwise},
    ClassOf{OpKind::Softplus, Class::Pointwise},  ClassOf{OpKind::Tanh, Class::Pointwise},
    ClassOf{OpKind::Rotary, Class::Pointwise},    ClassOf{OpKind::Copy, Class::Pointwise},
    ClassOf{OpKind::Cat, Class::Pointwise},       ClassOf{OpKind::CacheWrite, Class::Pointwise},
    ClassOf{OpKind::Embedding, Class::Pointwise}, ClassOf{OpKind::RmsNorm, Class::Reduction},
    ClassOf{OpKind::LayerNorm, Class::Reduction}, ClassOf{OpKind::Softmax, Class::Reduction},
};

Class class_of(OpKind kind) {
  for (const ClassOf& each : kClasses) {
    if (each.kind == kind) {
      return each.in;
    }
  }
  return Class::Library;
}

/// Rounds of a row that wait for one another: softmax needs its maximum, then its sum.
int64_t reductions_of(OpKind kind) {
  return kind == OpKind::Softmax ? 2 : class_of(kind) == Class::Reduction ? 1 : 0;
}

/// A group that is growing.
struct Growing {
  std::vector<size_t> ops;
  int64_t elements = 0;
  int64_t cols = 0;  // of its reductions; 0: none
  bool open = true;  // nothing outside has used its values
};

class Fuser {
 public:
  Fuser(const graph::Graph& graph, const graph::Sizes& sizes, const FuseRules& rules)
      : graph_(graph), sizes_(sizes), rules_(rules), group_(graph.ops().size(), Grouping::kNone) {}

  Grouping run() && {
    count_users();
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      place(i);
    }
    Grouping result;
    std::vector<size_t> moved(growing_.size(), Grouping::kNone);
    for (size_t i = 0; i < growing_.size(); ++i) {
      if (!growing_[i].ops.empty()) {
        moved[i] = result.groups.size();
        result.groups.push_back({growing_[i].ops, call_of(i)});
      }
    }
    for (size_t& group : group_) {
      group = group == Grouping::kNone ? group : moved[group];
    }
    result.group = std::move(group_);
    return result;
  }

 private:
  const graph::Op& op(size_t index) const { return graph_.ops()[index]; }

  /// What a view looks at.
  ValueId source(ValueId value) const {
    while (graph_[value].kind == graph::ValueKind::Result &&
           class_of(graph_[graph_[value].producer].kind) == Class::View) {
      value = graph_[graph_[value].producer].inputs[0];
    }
    return value;
  }

  /// The group that makes a value, or none.
  size_t maker(ValueId value) const {
    const graph::Value& made = graph_[source(value)];
    return made.kind == graph::ValueKind::Result ? group_[made.producer.index()] : Grouping::kNone;
  }

  int64_t elements(ValueId value) const { return sizes_.elements(graph_[value].type.shape); }

  /// A kernel writes a cache's new entries, not the cache.
  ValueId written(const graph::Op& each) const {
    return each.kind == OpKind::CacheWrite ? each.inputs[1] : each.result;
  }

  int64_t last_extent(ValueId value) const {
    const graph::Shape& shape = graph_[value].type.shape;
    return shape.empty() ? 1 : sizes_(shape.back());
  }

  /// Operators that read a value, themselves or through views, and outputs.
  void count_users() {
    users_.assign(graph_.values().size(), 0);
    for (const graph::Op& each : graph_.ops()) {
      if (class_of(each.kind) != Class::View) {
        for (const ValueId input : each.inputs) {
          ++users_[source(input).index()];
        }
      }
    }
    for (const ValueId output : graph_.outputs()) {
      users_[source(output).index()] += 2;  // never one reader's alone
    }
  }

  bool only_read_by(const Growing& group, const graph::Op& reader) const {
    return std::all_of(group.ops.begin(), group.ops.end(), [&](size_t index) {
      const ValueId made = op(index).result;
      const auto reads = std::count_if(reader.inputs.begin(),
                                       reader.inputs.end(),
                                       [&](ValueId input) { return source(input) == made; });
      const auto inside = std::count_if(group.ops.begin(), group.ops.end(), [&](size_t other) {
        const auto& inputs = op(other).inputs;
        return std::any_of(
            inputs.begin(), inputs.end(), [&](ValueId input) { return source(input) == made; });
      });
      return reads + inside >= users_[made.index()];
    });
  }

  bool may_join(const Growing& group, const graph::Op& each) const {
    if (!group.open || group.ops.empty()) {
      return false;
    }
    const int64_t own = elements(written(each));
    if (class_of(each.kind) == Class::Reduction && group.cols > 0 &&
        group.cols != last_extent(each.result)) {
      return false;
    }
    return own == group.elements ||
           (own < group.elements && group.cols == 0 && only_read_by(group, each));
  }

  void close_makers(const graph::Op& each, size_t but) {
    for (const ValueId input : each.inputs) {
      const size_t made = maker(input);
      if (made != Grouping::kNone && made != but) {
        growing_[made].open = false;
      }
    }
  }

  void place(size_t index) {
    const graph::Op& each = op(index);
    const Class in = class_of(each.kind);
    if (in == Class::View) {
      return;
    }
    if (in == Class::Library) {
      close_makers(each, Grouping::kNone);
      return;
    }
    size_t into = Grouping::kNone;
    for (const ValueId input : each.inputs) {
      const size_t made = maker(input);
      if (made == Grouping::kNone || made == into || !may_join(growing_[made], each)) {
        continue;
      }
      into = into == Grouping::kNone ? made : merged(into, made);
    }
    if (into == Grouping::kNone) {
      into = growing_.size();
      growing_.push_back({});
    }
    close_makers(each, into);
    Growing& group = growing_[into];
    group.ops.push_back(index);
    group.elements = elements(written(each));
    group.cols = class_of(each.kind) == Class::Reduction ? last_extent(each.result) : group.cols;
    group_[index] = into;
  }

  /// Two groups that an operator joins; the first if they do not fit each other.
  size_t merged(size_t a, size_t b) {
    Growing& to = growing_[a];
    Growing& from = growing_[b];
    const bool fits =
        to.elements == from.elements && (to.cols == 0 || from.cols == 0 || to.cols == from.cols);
    if (!fits) {
      return a;
    }
    for (const size_t index : from.ops) {
      group_[index] = a;
    }
    to.ops.insert(to.ops.end(), from.ops.begin(), from.ops.end());
    std::sort(to.ops.begin(), to.ops.end());
    to.cols = std::max(to.cols, from.cols);
    from = {.ops = {}, .open = false};
    return a;
  }

  bool is_resident(ValueId value) const {
    const graph::ValueKind kind = graph_[source(value)].kind;
    return kind == graph::ValueKind::Weight || kind == graph::ValueKind::Constant ||
           kind == graph::ValueKind::Cache;
  }

  /// Is `value` a view of another of `values`, so that it is read with that?
  bool part_of(ValueId value, const std::vector<ValueId>& values) const {
    while (graph_[value].kind == graph::ValueKind::Result &&
           class_of(graph_[graph_[value].producer].kind) == Class::View) {
      value = graph_[graph_[value].producer].inputs[0];
      if (std::find(values.begin(), values.end(), value) != values.end()) {
        return true;
      }
    }
    return false;
  }

  std::vector<ValueId> reads_of(size_t group) const {
    std::vector<ValueId> values;
    for (const size_t index : growing_[group].ops) {
      for (const ValueId input : op(index).inputs) {
        const bool cache = op(index).kind == OpKind::CacheWrite && input == op(index).inputs[0];
        const bool known = std::find(values.begin(), values.end(), input) != values.end();
        if (!cache && !known && maker(input) != group) {
          values.push_back(input);
        }
      }
    }
    std::vector<ValueId> whole;
    for (const ValueId value : values) {
      if (!part_of(value, values)) {
        whole.push_back(value);
      }
    }
    return whole;
  }

  /// Does anything outside of its group need what an operator makes?
  bool leaves(size_t index) const {
    const ValueId made = op(index).result;
    int64_t inside = 0;
    for (const size_t other : growing_[group_[index]].ops) {
      const auto& inputs = op(other).inputs;
      inside += std::count_if(
          inputs.begin(), inputs.end(), [&](ValueId input) { return source(input) == made; });
    }
    return inside < users_[made.index()] || op(index).kind == OpKind::CacheWrite;
  }

  library::FusedOperand operand(ValueId value, int64_t at_most) const {
    return {.elements = std::min(elements(value), at_most),
            .dtype = graph_[value].type.dtype,
            .resident = is_resident(value)};
  }

  bool made_by_library(ValueId value) const {
    const graph::Value& made = graph_[source(value)];
    return made.kind == graph::ValueKind::Result &&
           class_of(graph_[made.producer].kind) == Class::Library;
  }

  /// Do library kernels alone read what an operator makes?
  bool only_for_library(ValueId made) const {
    bool some = false;
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      const auto& inputs = op(i).inputs;
      const bool reads = std::any_of(
          inputs.begin(), inputs.end(), [&](ValueId input) { return source(input) == made; });
      if (reads && class_of(op(i).kind) == Class::Library) {
        some = true;
      } else if (reads && class_of(op(i).kind) == Class::Pointwise) {
        return false;
      }
    }
    return some;
  }

  library::FusedCall call_of(size_t index) const {
    const Growing& group = growing_[index];
    library::FusedCall call;
    const ValueId last = written(op(group.ops.back()));
    call.cols = group.cols > 0 ? group.cols : last_extent(last);
    call.rows = std::max<int64_t>(1, group.elements / std::max<int64_t>(1, call.cols));
    const std::vector<ValueId> reads = reads_of(index);
    std::vector<ValueId> writes;
    for (const size_t each : group.ops) {
      call.ops.emplace_back(name(op(each).kind));
      call.reductions += reductions_of(op(each).kind);
      if (leaves(each)) {
        writes.push_back(each_written(each));
      }
    }
    if (rules_.into_products) {
      absorb(reads, writes, group.elements, call);
    }
    if (!call.absorbed) {
      // Of a table of rows, and for the last position alone, as much as is used.
      for (const ValueId value : reads) {
        call.reads.push_back(operand(value, group.elements));
      }
      for (const ValueId value : writes) {
        call.writes.push_back(operand(value, group.elements));
      }
    }
    return call;
  }

  ValueId each_written(size_t index) const { return written(op(index)); }

  /// What a neighbour makes never leaves its registers, and what only a neighbour reads is read by
  /// it anyway: the rest is what a group still moves inside of its neighbours.
  void absorb(const std::vector<ValueId>& reads,
              const std::vector<ValueId>& writes,
              int64_t at_most,
              library::FusedCall& call) const {
    for (const ValueId value : reads) {
      if (made_by_library(value)) {
        call.absorbed = true;
      } else {
        call.reads.push_back(operand(value, at_most));
      }
    }
    for (const ValueId value : writes) {
      if (only_for_library(source(value))) {
        call.absorbed = true;
      } else {
        call.writes.push_back(operand(value, at_most));
      }
    }
    if (!call.absorbed) {
      call.reads.clear();
      call.writes.clear();
    }
  }

  const graph::Graph& graph_;
  const graph::Sizes& sizes_;
  const FuseRules& rules_;
  std::vector<size_t> group_;  // by operator, into growing_
  std::vector<Growing> growing_;
  std::vector<int64_t> users_;  // by value
};

}  // namespace

bool is_view(OpKind kind) {
  return class_of(kind) == Class::View;
}

Grouping fuse(const graph::Graph& graph, const graph::Sizes& sizes, const FuseRules& rules) {
  return Fuser(graph, sizes, rules).run();
}

}  // namespace orrery::passes
