// Memory accounting: residents by kind, and the living intermediate values.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/plan/memory.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace orrery::plan {

namespace {

bool is_view(graph::OpKind kind) {
  return kind == graph::OpKind::Slice || kind == graph::OpKind::Reshape ||
         kind == graph::OpKind::Permute || kind == graph::OpKind::Expand;
}

/// Follows intermediate values from operator to operator.
class Liveness {
 public:
  Liveness(const graph::Graph& graph, const graph::Sizes& sizes) : graph_(graph), sizes_(sizes) {
    find_storage();
    find_last_uses();
  }

  Bytes most() const {
    std::vector<Bytes> ends(graph_.ops().size() + 1);  // by operator: of values it uses last
    for (const graph::Op& op : graph_.ops()) {
      if (allocates(op)) {
        ends[last_use_[op.result.index()]] += sizes_.bytes(graph_[op.result].type);
      }
    }
    Bytes living;
    Bytes most;
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      const graph::Op& op = graph_.ops()[i];
      if (allocates(op)) {
        living += sizes_.bytes(graph_[op.result].type);
      }
      most = std::max(most, living);
      living -= ends[i];
    }
    return most;
  }

 private:
  bool allocates(const graph::Op& op) const { return storage_[op.result.index()] == op.result; }

  /// The value whose memory each value lies in: a view's is its operand's, a written cache is the
  /// cache.
  void find_storage() {
    for (size_t i = 0; i < graph_.values().size(); ++i) {
      storage_.push_back(graph::ValueId::from_index(i));
    }
    for (const graph::Op& op : graph_.ops()) {
      if (is_view(op.kind) || op.kind == graph::OpKind::CacheWrite) {
        storage_[op.result.index()] = storage_[op.inputs[0].index()];
      }
    }
  }

  void use(graph::ValueId value, size_t at) {
    size_t& last = last_use_[storage_[value.index()].index()];
    last = std::max(last, at);
  }

  void find_last_uses() {
    last_use_.assign(graph_.values().size(), 0);
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      use(graph_.ops()[i].result, i);
      for (const graph::ValueId input : graph_.ops()[i].inputs) {
        use(input, i);
      }
    }
    // What a repeat starts from lives as long as the carried value; what it carries on, to its end.
    for (const graph::Repeat& repeat : graph_.repeats()) {
      for (const graph::Carry& carry : repeat.carries) {
        use(carry.start, last_use_[storage_[carry.inside.index()].index()]);
        use(carry.next, repeat.last == 0 ? 0 : repeat.last - 1);
      }
    }
    for (const graph::ValueId output : graph_.outputs()) {
      use(output, graph_.ops().size());
    }
  }

  const graph::Graph& graph_;
  const graph::Sizes& sizes_;
  std::vector<graph::ValueId> storage_;  // by value
  std::vector<size_t> last_use_;         // by value: index of an operator
};

/// The value that a view looks at.
graph::ValueId viewed(const graph::Graph& graph, graph::ValueId value) {
  while (graph[value].kind == graph::ValueKind::Result &&
         is_view(graph[graph[value].producer].kind)) {
    value = graph[graph[value].producer].inputs[0];
  }
  return value;
}

/// Share of an attention's keys and values that those who come later still see: all, or the newest
/// of a window or chunk, which is what engines keep.
double kept_share(const graph::Graph& graph, const graph::Sizes& sizes, const graph::Op& op) {
  const int64_t most = op.attributes.window > 0 ? op.attributes.window : op.attributes.chunk;
  const std::vector<int64_t> keys = sizes(graph[op.inputs[1]].type.shape);
  constexpr size_t kLength = 2;  // of [batch, heads, length, size]
  if (most <= 0 || keys.size() <= kLength || keys[kLength] <= most) {
    return 1;
  }
  return static_cast<double>(most) / static_cast<double>(keys[kLength]);
}

/// The cache that a value looks at, if it does.
std::optional<graph::ValueId> cache_of(const graph::Graph& graph, graph::ValueId value) {
  graph::ValueId at = viewed(graph, value);
  while (graph[at].kind == graph::ValueKind::Result &&
         graph[graph[at].producer].kind == graph::OpKind::CacheWrite) {
    at = viewed(graph, graph[graph[at].producer].inputs[0]);
  }
  return graph[at].kind == graph::ValueKind::Cache ? std::optional(at) : std::nullopt;
}

/// What is kept of each value that is a cache: as much as the attention that sees most of it.
std::vector<double> cache_shares(const graph::Graph& graph, const graph::Sizes& sizes) {
  std::vector<double> shares(graph.values().size(), 0);
  for (const graph::Op& op : graph.ops()) {
    for (size_t input = 0; input < op.inputs.size(); ++input) {
      const auto cache = cache_of(graph, op.inputs[input]);
      if (!cache || op.kind == graph::OpKind::CacheWrite || is_view(op.kind)) {
        continue;
      }
      const bool keys = op.kind == graph::OpKind::Attention && (input == 1 || input == 2);
      double& share = shares[cache->index()];
      share = std::max(share, keys ? kept_share(graph, sizes, op) : 1.0);
    }
  }
  for (double& share : shares) {
    share = share > 0 ? share : 1;  // nobody reads it here
  }
  return shares;
}

/// Keys and values that a causal attention reads and no cache of the graph holds: those of a
/// prompt, which are kept for the tokens that follow. (Encoders attend to all tokens.)
Bytes kept_keys(const graph::Graph& graph, const graph::Sizes& sizes) {
  Bytes kept;
  for (const graph::Op& op : graph.ops()) {
    if (op.kind != graph::OpKind::Attention || !op.attributes.causal) {
      continue;
    }
    for (const size_t input : {size_t{1}, size_t{2}}) {
      const graph::Value& value = graph[viewed(graph, op.inputs[input])];
      const bool cached = value.kind == graph::ValueKind::Cache ||
                          (value.kind == graph::ValueKind::Result &&
                           graph[value.producer].kind == graph::OpKind::CacheWrite);
      if (!cached) {
        kept += kept_share(graph, sizes, op) * static_cast<double>(graph.times(graph[op.result])) *
                sizes.bytes(graph[op.inputs[input]].type);
      }
    }
  }
  return kept;
}

}  // namespace

Memory memory_of(const graph::Graph& graph, const graph::Sizes& sizes) {
  Memory memory;
  const std::vector<double> shares = cache_shares(graph, sizes);
  for (size_t i = 0; i < graph.values().size(); ++i) {
    const graph::Value& value = graph.values()[i];
    const Bytes bytes = static_cast<double>(graph.times(value)) * sizes.bytes(value.type);
    switch (value.kind) {
      case graph::ValueKind::Weight:
      case graph::ValueKind::Constant:
        memory.weights += bytes;
        break;
      case graph::ValueKind::Cache:
        memory.cache += shares[i] * bytes;
        break;
      case graph::ValueKind::Input:
        memory.activations += bytes;
        break;
      case graph::ValueKind::Carried:
      case graph::ValueKind::Result:
        break;
    }
  }
  memory.cache += kept_keys(graph, sizes);
  memory.activations += Liveness(graph, sizes).most();
  return memory;
}

Result<int64_t> largest_extent(const graph::Graph& graph,
                               std::span<const Binding> bindings,
                               const std::string& name,
                               Bytes capacity) {
  std::vector<Binding> all(bindings.begin(), bindings.end());
  std::erase_if(all, [&name](const Binding& binding) { return binding.first == name; });
  all.emplace_back(name, 1);
  const auto fits = [&](int64_t extent) -> Result<bool> {
    all.back().second = extent;
    ORR_TRY(const graph::Sizes sizes, graph::Sizes::bind(graph, all));
    return memory_of(graph, sizes).total() <= capacity;
  };
  constexpr int64_t kMost = int64_t{1} << 32;
  int64_t good = 0;
  int64_t bad = 1;
  while (bad < kMost) {
    ORR_TRY(const bool ok, fits(bad));
    if (!ok) {
      break;
    }
    good = bad;
    bad *= 2;
  }
  while (bad - good > 1) {
    const int64_t middle = good + (bad - good) / 2;
    ORR_TRY(const bool ok, fits(middle));
    (ok ? good : bad) = middle;
  }
  return good;
}

}  // namespace orrery::plan
