// Recurrent mixers: delta net, lightning attention, Mamba.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/model_writer_internal.h"

namespace orrery::frontend {

using graph::OpKind;
using graph::ValueId;

/// A state lives on between steps, whatever their tokens.
ValueId Writer::state(std::string_view name, graph::Shape shape, DType dtype) {
  return b_.cache(named(name), {dtype, std::move(shape)});
}

ValueId Writer::convolved(std::string_view name, ValueId x, int64_t taps, bool bias) {
  const std::string base(name);
  const int64_t channels = width(x);
  std::vector<ValueId> operands = {
      x,
      weight(base + ".weight", {Dim(channels), Dim(taps)}),
      state(base + "_inputs", {batch_, Dim(channels), Dim(taps)}, m_->dtype)};
  if (bias) {
    operands.push_back(weight(base + ".bias", {Dim(channels)}));
  }
  return op(name, OpKind::CausalConv, std::move(operands));
}

// Qwen3-Next, Qwen3.5: transformers models/qwen3_next/modeling_qwen3_next.py,
// Qwen3NextGatedDeltaNet.
ValueId Writer::delta_net(const Layer& layer, const DeltaNet& delta, ValueId x) {
  const int64_t keys = delta.k_heads * delta.k_dim;
  const int64_t values = delta.v_heads * delta.v_dim;
  const Dim heads(delta.v_heads);
  const Dim size(delta.v_dim);
  const graph::Precision& stored = precision(layer, Part::MixerInput);
  const ValueId all = linear("mixer_in", x, {2 * keys + 2 * values, false, stored});
  const ValueId rates = linear("mixer_rates", x, {2 * delta.v_heads, false, stored});
  const ValueId mixed =
      convolved("conv", part("qkv", all, 0, 2 * keys + values), delta.taps, false);
  const graph::Shape key_heads = {batch_, seq_, Dim(delta.k_heads), Dim(delta.k_dim)};
  const ValueId q = reshape("q", part("q_all", mixed, 0, keys), key_heads);
  const ValueId k = reshape("k", part("k_all", mixed, keys, keys), key_heads);
  const ValueId v =
      reshape("v", part("v_all", mixed, 2 * keys, values), {batch_, seq_, heads, size});
  const ValueId decay = weight("decay", {heads});
  const ValueId bias = weight("decay_bias", {heads});
  const ValueId out = op("delta",
                         OpKind::GatedDelta,
                         {q,
                          k,
                          v,
                          part("a", rates, 0, delta.v_heads),
                          part("b", rates, delta.v_heads, delta.v_heads),
                          decay,
                          bias,
                          state("memory", {batch_, heads, Dim(delta.k_dim), size}, DType::F32)});
  const ValueId normed = plain_norm("mixer_norm", out, OpKind::RmsNorm, delta.v_dim, 1);
  const ValueId z =
      reshape("z", part("z_all", all, 2 * keys + values, values), {batch_, seq_, heads, size});
  const ValueId gated = op("mixer_gated", OpKind::Mul, {normed, op("z_silu", OpKind::Silu, {z})});
  const ValueId flat = reshape("mixer_joined", gated, {batch_, seq_, Dim(values)});
  return linear("mixer_out", flat, {m_->hidden, false, precision(layer, Part::AttentionOutput)});
}

// MiniMax-01: transformers models/minimax/modeling_minimax.py, MiniMaxLightningAttention.
ValueId Writer::lightning(const Layer& layer, const Lightning& lightning, ValueId x) {
  const int64_t all = lightning.heads * lightning.head_dim;
  const Dim heads(lightning.heads);
  const Dim size(lightning.head_dim);
  const graph::Precision& stored = precision(layer, Part::MixerInput);
  const ValueId qkv = linear("qkv", x, {3 * all, false, stored});
  const ValueId opened = op("qkv_silu", OpKind::Silu, {qkv});
  const graph::Shape by_head = {batch_, seq_, heads, size};
  const ValueId q = reshape("q", part("q_all", opened, 0, all), by_head);
  const ValueId k = reshape("k", part("k_all", opened, all, all), by_head);
  const ValueId v = reshape("v", part("v_all", opened, 2 * all, all), by_head);
  const ValueId mixed = op("lightning",
                           OpKind::Lightning,
                           {q, k, v, state("memory", {batch_, heads, size, size}, DType::F32)});
  const ValueId flat = reshape("mixer_joined", mixed, {batch_, seq_, Dim(all)});
  const ValueId normed = norm("mixer_norm", flat, all);
  const ValueId gate = linear("mixer_gate", x, {all, false, stored});
  const ValueId gated =
      op("mixer_gated", OpKind::Mul, {op("gate_sigmoid", OpKind::Sigmoid, {gate}), normed});
  return linear("mixer_out", gated, {m_->hidden, false, precision(layer, Part::AttentionOutput)});
}

// transformers models/falcon_mamba/modeling_falcon_mamba.py, FalconMambaMixer.
ValueId Writer::mamba1(const Layer& layer, const Mamba1& mamba, ValueId x) {
  const graph::Precision& stored = precision(layer, Part::MixerInput);
  const ValueId both = linear("mixer_in", x, {2 * mamba.inner, mamba.bias, stored});
  const ValueId inner =
      convolved("conv", part("inner", both, 0, mamba.inner), mamba.taps, mamba.conv_bias);
  const ValueId rates = linear("mixer_rates", inner, {mamba.rank + 2 * mamba.state, false, stored});
  ValueId step = part("step_low", rates, 0, mamba.rank);
  ValueId b = part("b_all", rates, mamba.rank, mamba.state);
  ValueId c = part("c_all", rates, mamba.rank + mamba.state, mamba.state);
  if (mamba.norms) {
    step = plain_norm("step_norm", step, OpKind::RmsNorm, mamba.rank, 0);
    b = plain_norm("b_norm", b, OpKind::RmsNorm, mamba.state, 0);
    c = plain_norm("c_norm", c, OpKind::RmsNorm, mamba.state, 0);
  }
  const ValueId dt = linear("mixer_step", step, {mamba.inner, true, stored});
  const ValueId decay = weight("decay", {Dim(mamba.inner), Dim(mamba.state)});
  const ValueId skip = weight("skip", {Dim(mamba.inner)});
  const ValueId memory = state("memory", {batch_, Dim(mamba.inner), Dim(mamba.state)}, DType::F32);
  const ValueId out = op("scan", OpKind::Mamba1, {inner, dt, decay, b, c, skip, memory});
  const ValueId gate = op("z_silu", OpKind::Silu, {part("z", both, mamba.inner, mamba.inner)});
  const ValueId gated = op("mixer_gated", OpKind::Mul, {out, gate});
  return linear(
      "mixer_out", gated, {m_->hidden, mamba.bias, precision(layer, Part::AttentionOutput)});
}

// transformers models/nemotron_h/modeling_nemotron_h.py, NemotronHMamba2Mixer.
ValueId Writer::mamba2(const Layer& layer, const Mamba2& mamba, ValueId x) {
  const int64_t inner = mamba.heads * mamba.head_dim;
  const int64_t mixed = mamba.groups * mamba.state;
  const Dim heads(mamba.heads);
  const ValueId all =
      linear("mixer_in",
             x,
             {2 * inner + 2 * mixed + mamba.heads, mamba.bias, precision(layer, Part::MixerInput)});
  const ValueId conv = convolved(
      "conv", part("conv_in", all, inner, inner + 2 * mixed), mamba.taps, mamba.conv_bias);
  const ValueId dt = part("step", all, 2 * inner + 2 * mixed, mamba.heads);
  const graph::Shape by_group = {batch_, seq_, Dim(mamba.groups), Dim(mamba.state)};
  const ValueId heads_in =
      reshape("scan_in", part("x_all", conv, 0, inner), {batch_, seq_, heads, Dim(mamba.head_dim)});
  const ValueId b = reshape("b", part("b_all", conv, inner, mixed), by_group);
  const ValueId c = reshape("c", part("c_all", conv, inner + mixed, mixed), by_group);
  const ValueId decay = weight("decay", {heads});
  const ValueId skip = weight("skip", {heads});
  const ValueId bias = weight("step_bias", {heads});
  const ValueId memory =
      state("memory", {batch_, heads, Dim(mamba.head_dim), Dim(mamba.state)}, DType::F32);
  const ValueId out = op("scan", OpKind::Mamba2, {heads_in, dt, b, c, decay, skip, bias, memory});
  const ValueId flat = reshape("mixer_joined", out, {batch_, seq_, Dim(inner)});
  const ValueId gate = op("z_silu", OpKind::Silu, {part("z", all, 0, inner)});
  ValueId gated = op("mixer_gated", OpKind::Mul, {flat, gate});
  if (mamba.norm) {
    gated = plain_norm("mixer_norm", gated, OpKind::RmsNorm, inner, 1);
  }
  return linear(
      "mixer_out", gated, {m_->hidden, mamba.bias, precision(layer, Part::AttentionOutput)});
}

// transformers models/lfm2/modeling_lfm2.py, Lfm2ShortConv.
ValueId Writer::short_conv(const Layer& layer, const ShortConv& conv, ValueId x) {
  const int64_t size = conv.channels;
  const ValueId all =
      linear("mixer_in", x, {3 * size, conv.bias, precision(layer, Part::MixerInput)});
  const ValueId opened = op("mixer_opened",
                            OpKind::Mul,
                            {part("gate_in", all, 0, size), part("conv_in", all, 2 * size, size)});
  const ValueId mixed = convolved("conv", opened, conv.taps, conv.bias);
  const ValueId gated = op("mixer_gated", OpKind::Mul, {part("gate_out", all, size, size), mixed});
  return linear(
      "mixer_out", gated, {m_->hidden, conv.bias, precision(layer, Part::AttentionOutput)});
}

}  // namespace orrery::frontend
