// Operator graphs: WHAT a model computes, as typed values in single assignment.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/base/id.h"
#include "orrery/base/result.h"
#include "orrery/graph/op.h"
#include "orrery/graph/shape.h"

namespace orrery::graph {

// A graph in its text form (print.h writes it, parse.h reads it):
//
//     graph "tiny"
//     dim batch
//     input x: bf16 [batch, 64]
//     repeat 12 layer
//       carry h: bf16 [batch, 64] = x
//       weight w: bf16 [64, 64]
//       y: bf16 [batch, 64] = linear h w
//       next h = y
//     end
//     output h
//
// Values are assigned once and used after. Equal layers stand once, in a *repeat*: a loop of known
// count whose carried values begin as one value and are replaced by `next` after each pass; after
// the loop the carried name means the value of the last pass. Weights and caches declared in a
// repeat are different tensors in each pass. So a model of 80 layers is as small as one of 1, and
// whatever reads a graph does a layer's work once. Repeats do not nest.
//
// A graph is immutable: builder.h makes one, verify.h says when it is well formed, and a change is
// a new graph.

struct ValueTag;
using ValueId = Id<ValueTag>;
struct OpTag;
using OpId = Id<OpTag>;
struct RepeatTag;
using RepeatId = Id<RepeatTag>;

/// Where a value comes from.
enum class ValueKind {
  Input,     // given with each call
  Weight,    // parameters; resident
  Constant,  // tables the program made before (cos and sin of the rotary embedding); resident
  Cache,     // state that outlives a call (keys and values); resident, grows with the batch
  Carried,   // a repeat's carried value
  Result,    // of an operator
};
std::string_view name(ValueKind kind);

struct Value {
  std::string name;
  TensorType type;
  ValueKind kind = ValueKind::Result;
  OpId producer;    // Result only
  RepeatId repeat;  // the repeat it belongs to; none: outside
  bool operator==(const Value&) const = default;
};

struct Op {
  OpKind kind = OpKind::Add;
  std::vector<ValueId> inputs;
  Attributes attributes;
  ValueId result;
  bool operator==(const Op&) const = default;
};

/// A value carried from pass to pass: `inside` begins as `start` and becomes `next`.
struct Carry {
  ValueId inside;
  ValueId start;
  ValueId next;
  bool operator==(const Carry&) const = default;
};

/// Operators [first, last) run `count` times.
struct Repeat {
  std::string name;
  int64_t count = 1;
  size_t first = 0;
  size_t last = 0;
  std::vector<Carry> carries;
  bool operator==(const Repeat&) const = default;
};

/// The content of a graph, as it is built. Plain data; not yet checked.
struct GraphData {
  std::string name;
  std::vector<std::string> dims;  // names of extents, indexed by DimId
  std::vector<Value> values;
  std::vector<Op> ops;  // in order of execution
  std::vector<Repeat> repeats;
  std::vector<ValueId> outputs;
  bool operator==(const GraphData&) const = default;
};

/// A verified graph.
class Graph {
 public:
  /// Checks `data` (verify.h) and takes it. Errors list everything that is wrong.
  static Result<Graph> make(GraphData data);

  const std::string& name() const { return data_.name; }

  const std::vector<std::string>& dims() const { return data_.dims; }

  const std::vector<Value>& values() const { return data_.values; }

  const std::vector<Op>& ops() const { return data_.ops; }

  const std::vector<Repeat>& repeats() const { return data_.repeats; }

  const std::vector<ValueId>& outputs() const { return data_.outputs; }

  const GraphData& data() const { return data_; }

  const Value& operator[](ValueId id) const { return data_.values[id.index()]; }

  const Op& operator[](OpId id) const { return data_.ops[id.index()]; }

  const Repeat& operator[](RepeatId id) const { return data_.repeats[id.index()]; }

  /// How often a value exists or an operator runs: its repeat's count, 1 outside.
  int64_t times(const Value& value) const {
    return value.repeat.valid() ? (*this)[value.repeat].count : 1;
  }

  /// A hash of everything, the same in every run.
  uint64_t hash() const;

  bool operator==(const Graph&) const = default;

 private:
  explicit Graph(GraphData data) : data_(std::move(data)) {}

  GraphData data_;
};

/// Values of a graph's named extents.
class Sizes {
 public:
  /// Every name of the graph must be given, once, and be positive; names the graph does not have
  /// are errors.
  static Result<Sizes> bind(const Graph& graph,
                            std::span<const std::pair<std::string, int64_t>> values);

  int64_t operator()(Dim dim) const {
    return dim.named() ? values_[dim.symbol.index()] : dim.fixed;
  }

  std::vector<int64_t> operator()(const Shape& shape) const;
  /// Product of the extents; saturates at the largest int64.
  int64_t elements(const Shape& shape) const;
  /// Of the tensor, dense.
  Bytes bytes(const TensorType& type) const;

 private:
  std::vector<int64_t> values_;  // by DimId
};

}  // namespace orrery::graph
