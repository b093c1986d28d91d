// Counts over a model's graphs.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/model_size.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "orrery/frontend/model_graph.h"

namespace orrery::frontend {

namespace {

using graph::Graph;
using graph::OpKind;
using graph::Sizes;
using graph::ValueKind;

Result<Sizes> bound(const Graph& graph, int64_t tokens) {
  std::vector<std::pair<std::string, int64_t>> values;
  for (const std::string& dim : graph.dims()) {
    values.emplace_back(dim, dim == "batch" ? 1 : tokens);
  }
  return Sizes::bind(graph, values);
}

double elements(const Graph& graph, const Sizes& sizes, graph::ValueId id) {
  return static_cast<double>(sizes.elements(graph[id].type.shape));
}

/// Share of an expert weight that one token meets.
double met_share(const Graph& graph, const graph::Op& op) {
  const graph::Dim experts = graph[op.inputs[1]].type.shape.back();
  return static_cast<double>(op.attributes.size) / static_cast<double>(experts.fixed);
}

/// Multiply-adds of one operator, as two operations each.
double operations(const Graph& graph, const Sizes& sizes, const graph::Op& op) {
  const auto count = [&](size_t i) { return elements(graph, sizes, op.inputs[i]); };
  const auto extent = [&](size_t i, size_t axis) {
    return static_cast<double>(sizes(graph[op.inputs[i]].type.shape[axis]));
  };
  const double result = elements(graph, sizes, op.result);
  switch (op.kind) {
    case OpKind::Linear:
      return 2 * result * extent(1, 1);
    case OpKind::HeadLinear:
      return 2 * result * extent(1, 2);
    case OpKind::Matmul:
      return 2 * result * extent(0, graph[op.inputs[0]].type.shape.size() - 1);
    case OpKind::Attention:
      return 2 * (count(0) + result) * extent(1, 2);
    case OpKind::LatentAttention: {
      const double keys =
          op.inputs.size() > 2 ? std::min(extent(1, 1), extent(2, 2)) : extent(1, 1);
      return 2 * (count(0) + result) * keys;
    }
    case OpKind::IndexKeys:
      return 2 * count(0) * extent(1, 1);
    case OpKind::Moe: {
      const double tokens = count(0) / extent(2, 2);
      return 2 * tokens * met_share(graph, op) * (count(2) + count(3));
    }
    case OpKind::GatedDelta:
    case OpKind::Mamba1:
    case OpKind::Mamba2:
    case OpKind::Lightning:  // the state is decayed, added to and read
      return 4 * elements(graph, sizes, op.inputs.back());
    case OpKind::CausalConv:
      return 2 * result * extent(1, 1);
    default:
      return 0;
  }
}

double all_operations(const Graph& graph, const Sizes& sizes) {
  double sum = 0;
  for (const graph::Op& op : graph.ops()) {
    sum += static_cast<double>(graph.times(graph[op.result])) * operations(graph, sizes, op);
  }
  return sum;
}

Bytes caches(const Graph& graph, const Sizes& sizes) {
  Bytes sum{0.0};
  for (const graph::Value& value : graph.values()) {
    if (value.kind == ValueKind::Cache) {
      sum += static_cast<double>(graph.times(value)) * sizes.bytes(value.type);
    }
  }
  return sum;
}

double extra_parameters(const Model& model) {
  double sum = static_cast<double>(model.extra_parameters);
  for (const LayerGroup& group : model.stack.groups) {
    for (const Layer& layer : group.body) {
      sum += static_cast<double>(group.times) * static_cast<double>(layer.extra_parameters);
    }
  }
  return sum;
}

void count_weights(const Graph& graph, const Sizes& sizes, ModelSize& size) {
  double spared = 0;  // parameters of experts that a token does not meet
  for (const graph::Value& value : graph.values()) {
    const double times = static_cast<double>(graph.times(value));
    if (value.kind == ValueKind::Weight) {
      size.parameters += times * static_cast<double>(sizes.elements(value.type.shape));
    }
    if (value.kind == ValueKind::Weight || value.kind == ValueKind::Constant) {
      size.weights += times * sizes.bytes(value.type);
    }
  }
  for (const graph::Op& op : graph.ops()) {
    if (op.kind != OpKind::Moe) {
      continue;
    }
    for (size_t i = 2; i < op.inputs.size(); ++i) {
      const graph::Value& value = graph[op.inputs[i]];
      if (value.kind == ValueKind::Weight) {
        spared += static_cast<double>(graph.times(value)) * (1 - met_share(graph, op)) *
                  static_cast<double>(sizes.elements(value.type.shape));
      }
    }
  }
  size.active = size.parameters - spared;
}

}  // namespace

Result<ModelSize> size_of(const Model& model) {
  ModelSize size;
  ORR_TRY(const Graph prefill, model_graph(model, Phase::Prefill));
  ORR_TRY(const Sizes one, bound(prefill, 1));
  count_weights(prefill, one, size);
  const double extra = extra_parameters(model);
  size.parameters += extra;
  size.active += extra;
  for (const Model& tower : model.towers) {
    size.towers += encoder_parameters(tower);
  }
  if (!model.decodes) {
    size.flops_per_token = Flops(all_operations(prefill, one));
    return size;
  }
  ORR_TRY(const Graph decode, model_graph(model, Phase::Decode));
  ORR_TRY(const Sizes first, bound(decode, 1));
  ORR_TRY(const Sizes second, bound(decode, 2));
  const double at_one = all_operations(decode, first);
  size.flops_per_token = Flops(at_one);
  size.flops_per_context = Flops(all_operations(decode, second) - at_one);
  size.cache_per_token = caches(decode, second) - caches(decode, first);
  size.state = caches(decode, first) - size.cache_per_token;
  return size;
}

double encoder_parameters(const Model& encoder) {
  const auto graph = model_graph(encoder, Phase::Prefill);
  if (!graph.ok()) {
    return 0;
  }
  const auto sizes = bound(*graph, 1);
  if (!sizes.ok()) {
    return 0;
  }
  ModelSize size;
  count_weights(*graph, *sizes, size);
  return size.parameters + extra_parameters(encoder);
}

}  // namespace orrery::frontend
