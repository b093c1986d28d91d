// Attention: projections, heads, rotary embedding, cache, gate.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/model_writer_internal.h"

namespace orrery::frontend {

using graph::OpKind;
using graph::ValueId;

ValueId Writer::mixer(const Layer& layer, ValueId x) {
  if (const auto* each = std::get_if<Attention>(&layer.mixer)) {
    return attention(layer, *each, x);
  }
  if (const auto* each = std::get_if<LatentAttention>(&layer.mixer)) {
    return latent_attention(layer, *each, x);
  }
  if (const auto* each = std::get_if<DeltaNet>(&layer.mixer)) {
    return delta_net(layer, *each, x);
  }
  if (const auto* each = std::get_if<Lightning>(&layer.mixer)) {
    return lightning(layer, *each, x);
  }
  if (const auto* each = std::get_if<Mamba1>(&layer.mixer)) {
    return mamba1(layer, *each, x);
  }
  if (const auto* each = std::get_if<ShortConv>(&layer.mixer)) {
    return short_conv(layer, *each, x);
  }
  return mamba2(layer, std::get<Mamba2>(layer.mixer), x);
}

/// Attention and a recurrence over the same rows, added up.
ValueId Writer::mixer_and_beside(const Layer& layer, ValueId x) {
  const ValueId mixed = mixer(layer, x);
  if (!layer.beside) {
    return mixed;
  }
  const std::string outer = prefix_;
  prefix_ += "beside_";
  const ValueId beside = mamba2(layer, *layer.beside, x);
  prefix_ = outer;
  return op("mixers_add", OpKind::Add, {mixed, beside});
}

/// [batch, seq, heads size] as [batch, heads, seq, size].
ValueId Writer::by_head(std::string_view name, ValueId x, int64_t heads, int64_t size) {
  const std::string base(name);
  const ValueId split = reshape(base + "_heads", x, {batch_, seq_, Dim(heads), Dim(size)});
  return permute(base, split, {0, 2, 1, 3});
}

Writer::Heads Writer::heads(const Layer& layer, const Attention& a, ValueId x) {
  const graph::Precision& stored = precision(layer, Part::Qkv);
  const bool alike = a.value_dim == a.head_dim && !a.output_gate && !a.values_are_keys &&
                     a.qk_norm != QkNorm::Width;
  if (alike) {  // one reshape and one transposition serve all heads
    const int64_t all = a.heads + 2 * a.kv_heads;
    ValueId qkv = linear("qkv", x, {all * a.head_dim, a.qkv_bias, stored});
    if (a.clip > 0) {
      qkv = op("qkv_clipped", OpKind::Clamp, {qkv}, {.factor = a.clip});
    }
    const ValueId turned = by_head("qkv_by_head", qkv, all, a.head_dim);
    const auto some = [&](std::string_view name, int64_t first, int64_t count) {
      return op(name, OpKind::Slice, {turned}, {.axis = 1, .begin = first, .size = count});
    };
    return {some("q", 0, a.heads),
            some("k", a.heads, a.kv_heads),
            some("v", a.heads + a.kv_heads, a.kv_heads),
            {}};
  }
  const int64_t queries = a.heads * a.head_dim;
  const int64_t keys = a.kv_heads * a.head_dim;
  const int64_t values = a.values_are_keys ? 0 : a.kv_heads * a.value_dim;
  const int64_t gate = a.output_gate ? a.heads * a.value_dim : 0;
  const ValueId all = linear("qkv", x, {queries + keys + values + gate, a.qkv_bias, stored});
  ValueId q = part("q_all", all, 0, queries);
  ValueId k = part("k_all", all, queries, keys);
  if (a.qk_norm == QkNorm::Width) {
    q = norm("q_norm", q, queries);
    k = norm("k_norm", k, keys);
  }
  Heads heads;
  heads.q = by_head("q", q, a.heads, a.head_dim);
  heads.k = by_head("k", k, a.kv_heads, a.head_dim);
  heads.v = a.values_are_keys
                ? heads.k
                : by_head("v", part("v_all", all, queries + keys, values), a.kv_heads, a.value_dim);
  if (a.output_gate) {
    heads.gate = part("output_gate", all, queries + keys + values, gate);
  }
  return heads;
}

/// x [b, h, s, d] with its norm and its rotary embedding.
ValueId Writer::turned(std::string_view name, ValueId x, const Attention& a, bool narrow) {
  const std::string base(name);
  switch (a.qk_norm) {
    case QkNorm::None:
    case QkNorm::Width:
      break;
    case QkNorm::Head:
      x = plain_norm(base + "_norm", x, OpKind::RmsNorm, a.head_dim, 1);
      break;
    case QkNorm::HeadLayer:
      x = plain_norm(base + "_norm", x, OpKind::LayerNorm, a.head_dim, 2);
      break;
    case QkNorm::PerHead:
      x = op(base + "_norm_scaled",
             OpKind::Mul,
             {plain_norm(base + "_norm", x, OpKind::LayerNorm, a.head_dim, 0),
              weight(base + "_norm.weight",
                     {Dim(narrow ? a.kv_heads : a.heads), Dim(1), Dim(a.head_dim)})});
      break;
    case QkNorm::NoWeight:
      x = plain_norm(base + "_norm", x, OpKind::RmsNorm, a.head_dim, 0);
      break;
  }
  return a.rotary_dim == 0 ? x : rotary(base + "_rotary", x, a.rotary_dim);
}

ValueId Writer::rotary(std::string_view name, ValueId x, int64_t size) {
  for (const auto& [known, table] : tables_) {
    if (known == size) {
      return op(name, OpKind::Rotary, {x, table.first, table.second});
    }
  }
  ORR_CHECK(false) << "no rotary table of " << size;
  return x;
}

/// The whole cache after writing `entries` as its newest along `axis`; in a prefill just the
/// entries.
ValueId Writer::cached(std::string_view name, ValueId entries, int64_t axis) {
  if (!decode_) {
    return entries;
  }
  const std::string base(name);
  graph::Shape shape = b_.type(entries).shape;
  if (shape.size() > static_cast<size_t>(axis)) {
    shape[static_cast<size_t>(axis)] = context_;
  }
  const ValueId cache =
      b_.cache(named(base + "_cache"), {m_->cache.value_or(m_->dtype), std::move(shape)});
  return op(base + "_write", OpKind::CacheWrite, {cache, entries}, {.axis = axis});
}

ValueId Writer::attention(const Layer& layer, const Attention& a, ValueId x) {
  const Heads all = heads(layer, a, x);
  const ValueId q = turned("q", all.q, a, false);
  const ValueId k = turned("k", all.k, a, true);
  const ValueId v =
      a.value_norm ? plain_norm("v_norm", all.v, OpKind::RmsNorm, a.value_dim, 0) : all.v;
  const bool keeps = m_->decodes;
  std::vector<ValueId> operands = {q, keeps ? cached("k", k, 2) : k, keeps ? cached("v", v, 2) : v};
  if (a.sinks) {
    operands.push_back(weight("sinks", {Dim(a.heads)}));
  }
  const ValueId mixed = op("attention",
                           OpKind::Attention,
                           std::move(operands),
                           {.causal = a.causal && !decode_,
                            .window = a.window,
                            .chunk = a.chunk,
                            .soft_cap = a.soft_cap,
                            .biased = a.biased});
  ValueId flat = joined(a, mixed, all.gate);
  if (a.head_gate) {
    flat = token_gate(layer, a, x, flat);
  }
  return linear("attention_output",
                flat,
                {m_->hidden, a.output_bias, precision(layer, Part::AttentionOutput)});
}

/// The results of all heads as one row a token, times the sigmoid of a gate as wide.
ValueId Writer::joined(const Attention& a, ValueId mixed, ValueId gate) {
  const ValueId by_token = permute("attention_by_token", mixed, {0, 2, 1, 3});
  const ValueId flat =
      reshape("attention_joined", by_token, {batch_, seq_, Dim(a.heads * a.value_dim)});
  if (!gate.valid()) {
    return flat;
  }
  return op(
      "attention_gated", OpKind::Mul, {flat, op("output_gate_sigmoid", OpKind::Sigmoid, {gate})});
}

/// Each head times the softplus of its own number.
ValueId Writer::token_gate(const Layer& layer, const Attention& a, ValueId x, ValueId joined) {
  const Dim heads(a.heads);
  const ValueId gate = linear("head_gate", x, {a.heads, false, precision(layer, Part::Qkv)});
  const ValueId open = op("head_gate_softplus", OpKind::Softplus, {gate});
  const ValueId wide = reshape("head_gate_wide", open, {batch_, seq_, heads, Dim(1)});
  const ValueId split = reshape("attention_heads", joined, {batch_, seq_, heads, Dim(a.value_dim)});
  const ValueId gated = op("attention_head_gated", OpKind::Mul, {split, wide});
  return reshape("attention_gated_joined", gated, {batch_, seq_, Dim(a.heads * a.value_dim)});
}

/// Keys and values of the encoder's results are made once, in the prefill, and cached.
ValueId Writer::cross_attention(const Layer& layer, const Attention& a, ValueId x) {
  const std::string outer = prefix_;
  prefix_ += "cross_";
  const graph::Precision& stored = precision(layer, Part::Qkv);
  const int64_t keys = a.kv_heads * a.head_dim;
  const ValueId q = by_head(
      "q", linear("q_all", x, {a.heads * a.head_dim, a.qkv_bias, stored}), a.heads, a.head_dim);
  ValueId k;
  ValueId v;
  if (decode_) {
    const graph::TensorType kept{m_->cache.value_or(m_->dtype),
                                 {batch_, Dim(a.kv_heads), source_, Dim(a.head_dim)}};
    weight("kv.weight", {Dim(2 * keys), Dim(m_->encoder.front().hidden)});  // resident
    k = b_.cache(named("k_cache"), kept);
    v = b_.cache(named("v_cache"), kept);
  } else {
    const ValueId both = linear("kv", source_states_, {2 * keys, a.qkv_bias, stored});
    const Dim tokens = std::exchange(seq_, source_);
    k = by_head("k", part("k_all", both, 0, keys), a.kv_heads, a.head_dim);
    v = by_head("v", part("v_all", both, keys, keys), a.kv_heads, a.head_dim);
    seq_ = tokens;
  }
  const ValueId mixed = op("attention", OpKind::Attention, {q, k, v});
  const ValueId flat = joined(a, mixed, {});
  const ValueId out = linear("attention_output",
                             flat,
                             {m_->hidden, a.output_bias, precision(layer, Part::AttentionOutput)});
  prefix_ = outer;
  return out;
}

}  // namespace orrery::frontend
