// Feed-forward parts: dense, experts, both.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/model_writer_internal.h"

namespace orrery::frontend {

using graph::OpKind;
using graph::Precision;
using graph::Scheme;
using graph::ValueId;

ValueId Writer::feed_forward(const Layer& layer, ValueId x) {
  if (!layer.experts) {
    return dense(layer, *layer.dense, x, false);
  }
  const ValueId routed = experts(layer, *layer.experts, x);
  if (!layer.dense) {
    return routed;
  }
  return op("dense_and_experts", OpKind::Add, {dense(layer, *layer.dense, x, false), routed});
}

ValueId Writer::activated(ValueId x, OpKind kind, std::string_view prefix) {
  return op(std::string(prefix) + std::string(graph::name(kind)), kind, {x});
}

ValueId Writer::dense(const Layer& layer, const Dense& dense, ValueId x, bool shared) {
  const std::string prefix = shared ? "shared_" : "";
  const Precision& up = precision(layer, shared ? Part::SharedUp : Part::Up);
  const Precision& down = precision(layer, shared ? Part::SharedDown : Part::Down);
  const int64_t hidden = width(x);
  const Product last{hidden, dense.bias, down};
  if (!dense.gated) {
    const ValueId wide = linear(prefix + "up", x, {dense.width, dense.bias, up});
    return linear(prefix + "down", activated(wide, dense.activation, prefix), last);
  }
  const ValueId both = linear(prefix + "gate_up", x, {2 * dense.width, dense.bias, up});
  const ValueId gate = part(prefix + "gate", both, 0, dense.width);
  const ValueId rest = part(prefix + "up", both, dense.width, dense.width);
  const ValueId opened = activated(gate, dense.activation, prefix);
  return linear(prefix + "down", op(prefix + "gated", OpKind::Mul, {opened, rest}), last);
}

ValueId Writer::expert_weight(std::string_view name,
                              const Experts& experts,
                              std::pair<int64_t, int64_t> rows_cols,
                              const Precision& precision) {
  return b_.weight(named(name),
                   {precision.scheme == Scheme::None ? m_->dtype : precision.weight,
                    {Dim(experts.count), Dim(rows_cols.first), Dim(rows_cols.second)}},
                   shared_weights_);
}

ValueId Writer::experts(const Layer& layer, const Experts& experts, ValueId x) {
  const Precision& stored = precision(layer, Part::Experts);
  const int64_t outside = width(x);
  const ValueId logits =
      linear("router",
             x,
             {experts.count * experts.ranks, experts.router_bias, precision(layer, Part::Router)});
  const ValueId inside =
      experts.latent == 0
          ? x
          : linear("experts_in", x, {experts.latent, false, precision(layer, Part::Up)});
  const int64_t hidden = width(inside);
  const int64_t up = (experts.gated ? 2 : 1) * experts.width;
  std::vector<ValueId> operands = {
      inside,
      logits,
      expert_weight("experts_up.weight", experts, {up, hidden}, stored),
      expert_weight("experts_down.weight", experts, {hidden, experts.width}, stored)};
  if (experts.bias) {
    operands.push_back(weight("experts_up.bias", {Dim(experts.count), Dim(up)}));
    operands.push_back(weight("experts_down.bias", {Dim(experts.count), Dim(hidden)}));
  }
  graph::Attributes attributes{
      .size = experts.topk, .activation = experts.activation, .sources = experts.sources};
  if (stored.scheme != Scheme::None) {
    attributes.scheme = stored.scheme;
    attributes.group = stored.group;
    attributes.activations = stored.activations;
    for (const auto& [name, n, k] : {std::tuple("experts_up.scale", up, hidden),
                                     std::tuple("experts_down.scale", hidden, experts.width)}) {
      const graph::ScaleShape scale = graph::scale_shape(stored, n, k);
      operands.push_back(b_.constant(
          named(name),
          {graph::scale_type(stored), {Dim(experts.count), Dim(scale.rows), Dim(scale.cols)}}));
    }
  }
  ValueId routed = op("experts", OpKind::Moe, std::move(operands), std::move(attributes));
  if (experts.latent != 0) {
    routed = linear("experts_out", routed, {outside, false, precision(layer, Part::Down)});
  }
  if (experts.shared_width == 0) {
    return routed;
  }
  const Dense beside{
      .width = experts.shared_width, .gated = experts.gated, .activation = experts.activation};
  ValueId shared = dense(layer, beside, x, true);
  if (experts.shared_gate) {
    const ValueId gate = linear("shared_mix", x, {1, false, precision(layer, Part::Router)});
    shared =
        op("shared_weighted", OpKind::Mul, {op("shared_sigmoid", OpKind::Sigmoid, {gate}), shared});
  }
  return op("experts_add", OpKind::Add, {routed, shared});
}

}  // namespace orrery::frontend
