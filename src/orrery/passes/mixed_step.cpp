// mixed_step: caches before each attention, one row of logits a request.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/mixed_step.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orrery/graph/infer.h"

namespace orrery::passes {

namespace {

using graph::OpKind;
using graph::ValueId;

/// Of all sequences.
int64_t keys_of(const std::vector<Request>& requests) {
  int64_t keys = 0;
  for (const Request& request : requests) {
    keys += request.tokens + request.cached;
  }
  return keys;
}

class Packer {
 public:
  Packer(const graph::Graph& graph, const Context& context)
      : data_(graph.data()),
        cache_(context.cache),
        requests_(static_cast<int64_t>(context.requests.size())),
        keys_(keys_of(context.requests)) {}

  Result<graph::Graph> run() && {
    const std::vector<graph::Op> before = std::exchange(data_.ops, {});
    std::vector<size_t> moved(before.size() + 1);  // where an operator begins now
    for (size_t i = 0; i < before.size(); ++i) {
      moved[i] = data_.ops.size();
      graph::Op op = before[i];
      if (op.kind == OpKind::Attention) {
        ORR_TRY(op.inputs[1], cached(op.inputs[1], 2));
        ORR_TRY(op.inputs[2], cached(op.inputs[2], 2));
      } else if (op.kind == OpKind::LatentAttention || op.kind == OpKind::IndexKeys) {
        ORR_TRY(op.inputs[1], cached(op.inputs[1], 1));
      }
      const bool last_token = op.kind == OpKind::Slice && op.attributes.axis == 1 &&
                              op.attributes.begin == -1 && op.attributes.size == 1;
      if (last_token) {
        op.attributes.begin = -requests_;
        op.attributes.size = requests_;
      }
      ORR_TRY_VOID(append(std::move(op)));
    }
    moved.back() = data_.ops.size();
    for (graph::Repeat& repeat : data_.repeats) {
      repeat.first = moved[repeat.first];
      repeat.last = moved[repeat.last];
    }
    return graph::Graph::make(std::move(data_));
  }

 private:
  Result<void> append(graph::Op op) {
    std::vector<graph::TensorType> types;
    for (const ValueId input : op.inputs) {
      types.push_back(data_.values[input.index()].type);
    }
    graph::Value& result = data_.values[op.result.index()];
    ORR_TRY(result.type, graph::infer(op.kind, types, op.attributes, data_.dims));
    result.producer = graph::OpId::from_index(data_.ops.size());
    data_.ops.push_back(std::move(op));
    return {};
  }

  ValueId add(graph::Value value) {
    data_.values.push_back(std::move(value));
    return ValueId::from_index(data_.values.size() - 1);
  }

  /// The cache of all sequences after the new entries, whose tokens lie along `axis`.
  Result<ValueId> cached(ValueId entries, size_t axis) {
    const graph::Value fresh = data_.values[entries.index()];
    graph::Value cache = fresh;
    cache.name += kPackedCache;
    cache.producer = {};
    cache.type.shape[axis] = graph::Dim(keys_);
    cache.type.dtype = cache_.value_or(cache.type.dtype);
    cache.kind = graph::ValueKind::Cache;
    const ValueId whole = add(std::move(cache));
    graph::Value written = fresh;
    written.name += ".write";
    written.kind = graph::ValueKind::Result;
    const ValueId result = add(std::move(written));
    ORR_TRY_VOID(append(
        {OpKind::CacheWrite, {whole, entries}, {.axis = static_cast<int64_t>(axis)}, result}));
    return result;
  }

  graph::GraphData data_;
  std::optional<DType> cache_;  // its type, where it is not that of what is written
  int64_t requests_ = 0;
  int64_t keys_ = 0;
};

}  // namespace

Result<graph::Graph> mixed_step(const graph::Graph& graph, const Context& context) {
  if (context.requests.empty()) {
    return graph;
  }
  return Packer(graph, context).run();
}

std::optional<std::string> mixed_step_reads(const graph::Graph& /*graph*/, const Context& context) {
  if (context.requests.empty()) {
    return std::nullopt;
  }
  return fmt::format("{} of {} {}",
                     context.requests.size(),
                     keys_of(context.requests),
                     context.cache ? name(*context.cache) : "");
}

}  // namespace orrery::passes
