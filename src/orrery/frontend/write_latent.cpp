// Latent attention: expanded in a prefill, absorbed in a decode step and where keys are chosen.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/model_writer_internal.h"

namespace orrery::frontend {

using graph::OpKind;
using graph::ValueId;

// DeepSeek-V2 (arXiv 2405.04434), section 2.1 and appendix C. Keys and values of all heads come
// from one latent row c of kv_rank numbers; k_h = (U_h c, r) with a rotary part r that the heads
// share. Absorbed: q_h . k_h = (U_h^T q_h) . c + q_r . r, so that a step reads (c, r) once for all
// heads and never makes keys; the result is a mix of c, which the value projection V_h then
// expands.

ValueId Writer::latent_attention(const Layer& layer, const LatentAttention& a, ValueId x) {
  const Latents from = latents(layer, a, x);
  ValueId ids;
  if (a.indexer) {
    ids_ = a.indexer->shared ? ids_ : chosen(layer, a, x, from.q_latent);
    ids = ids_;
  }
  const bool absorbs = decode_ || mixed_ || a.indexer;
  const ValueId flat = absorbs ? absorbed(a, from, ids) : expanded(layer, a, from);
  return linear(
      "attention_output", flat, {m_->hidden, a.bias, precision(layer, Part::AttentionOutput)});
}

Writer::Latents Writer::latents(const Layer& layer, const LatentAttention& a, ValueId x) {
  const graph::Precision& down = precision(layer, Part::Qkv);
  const graph::Precision& up = precision(layer, Part::LatentUp);
  const int64_t queries = a.heads * (a.nope_dim + a.rope_dim);
  Latents all;
  ValueId low;
  if (a.q_rank > 0) {  // the down projections of queries and latents run as one
    low = linear("latents", x, {a.q_rank + a.kv_rank + a.rope_dim, a.bias, down});
    all.q_latent = norm("q_latent_norm", part("q_latent", low, 0, a.q_rank), a.q_rank);
    all.q = linear("q_up", all.q_latent, {queries, false, up});
  } else {
    all.q = linear("q_all", x, {queries, false, down});
    low = linear("latents", x, {a.kv_rank + a.rope_dim, a.bias, down});
  }
  all.kv = norm("kv_latent_norm", part("kv_latent", low, a.q_rank, a.kv_rank), a.kv_rank);
  const ValueId rope = part("k_rope_all", low, a.q_rank + a.kv_rank, a.rope_dim);
  all.k_rope = rotary(
      "k_rotary", reshape("k_rope", rope, {batch_, Dim(1), seq_, Dim(a.rope_dim)}), a.rope_dim);
  return all;
}

/// Queries by head, [b, h, s, ..]: their part without and that with rotary embedding.
std::pair<ValueId, ValueId> Writer::split_queries(const LatentAttention& a, ValueId q) {
  const ValueId all = by_head("q", q, a.heads, a.nope_dim + a.rope_dim);
  const ValueId nope =
      op("q_nope", OpKind::Slice, {all}, {.axis = 3, .begin = 0, .size = a.nope_dim});
  const ValueId rope =
      op("q_rope", OpKind::Slice, {all}, {.axis = 3, .begin = a.nope_dim, .size = a.rope_dim});
  return {nope, rotary("q_rotary", rope, a.rope_dim)};
}

ValueId Writer::expanded(const Layer& layer, const LatentAttention& a, const Latents& from) {
  const int64_t both = a.nope_dim + a.value_dim;
  const Dim heads(a.heads);
  const ValueId kv =
      linear("kv_up", from.kv, {a.heads * both, false, precision(layer, Part::LatentUp)});
  const ValueId all = by_head("kv", kv, a.heads, both);
  const ValueId k_nope =
      op("k_nope", OpKind::Slice, {all}, {.axis = 3, .begin = 0, .size = a.nope_dim});
  const ValueId v =
      op("v", OpKind::Slice, {all}, {.axis = 3, .begin = a.nope_dim, .size = a.value_dim});
  const ValueId k_rope = op("k_rope_heads",
                            OpKind::Expand,
                            {from.k_rope},
                            {.shape = {batch_, heads, seq_, Dim(a.rope_dim)}});
  const auto [q_nope, q_rope] = split_queries(a, from.q);
  const ValueId q = op("q_joined", OpKind::Cat, {q_nope, q_rope}, {.axis = 3});
  const ValueId k = op("k_joined", OpKind::Cat, {k_nope, k_rope}, {.axis = 3});
  const ValueId mixed = op("attention", OpKind::Attention, {q, k, v}, {.causal = true});
  const ValueId by_token = permute("attention_by_token", mixed, {0, 2, 1, 3});
  return reshape("attention_joined", by_token, {batch_, seq_, Dim(a.heads * a.value_dim)});
}

ValueId Writer::absorbed(const LatentAttention& a, const Latents& from, ValueId ids) {
  const Dim heads(a.heads);
  const Dim rank(a.kv_rank);
  const ValueId up = weight("kv_up.weight", {heads, Dim(a.nope_dim + a.value_dim), rank});
  const ValueId to_keys =
      op("to_keys", OpKind::Slice, {up}, {.axis = 1, .begin = 0, .size = a.nope_dim});
  const ValueId to_values =
      op("to_values", OpKind::Slice, {up}, {.axis = 1, .begin = a.nope_dim, .size = a.value_dim});
  const auto [q_nope, q_rope] = split_queries(a, from.q);
  const ValueId q_low =
      op("q_absorbed", OpKind::HeadLinear, {q_nope, permute("to_keys_turned", to_keys, {0, 2, 1})});
  const ValueId q = op("q_joined", OpKind::Cat, {q_low, q_rope}, {.axis = 3});
  const ValueId rope = reshape("k_rope_row", from.k_rope, {batch_, seq_, Dim(a.rope_dim)});
  const ValueId entry = op("latent_entry", OpKind::Cat, {from.kv, rope}, {.axis = 2});
  std::vector<ValueId> operands = {q, cached("latent", entry, 1)};
  if (ids.valid()) {
    operands.push_back(ids);
  }
  const ValueId mixed = op("attention",
                           OpKind::LatentAttention,
                           std::move(operands),
                           {.size = a.kv_rank, .causal = !decode_});
  const ValueId wide = op("values_expanded", OpKind::HeadLinear, {mixed, to_values});
  const ValueId by_token = permute("attention_by_token", wide, {0, 2, 1, 3});
  return reshape("attention_joined", by_token, {batch_, seq_, Dim(a.heads * a.value_dim)});
}

// DeepSeek-V3.2: transformers models/deepseek_v32/modeling_deepseek_v32.py, the indexer. Its keys
// have a layer norm; the rotary embedding turns the first rope_dim of each head.
ValueId Writer::chosen(const Layer& layer, const LatentAttention& a, ValueId x, ValueId q_latent) {
  const Indexer& index = *a.indexer;
  const graph::Precision& stored = precision(layer, Part::Indexer);
  const Dim size(index.head_dim);
  const ValueId q_all =
      linear("index_q_all", q_latent, {index.heads * index.head_dim, false, stored});
  const ValueId q_turned =
      rotary("index_q_rotary", by_head("index_q", q_all, index.heads, index.head_dim), a.rope_dim);
  const ValueId q = permute("index_q_by_token", q_turned, {0, 2, 1, 3});
  const ValueId k_all = plain_norm("index_k_norm",
                                   linear("index_k", x, {index.head_dim, false, stored}),
                                   OpKind::LayerNorm,
                                   index.head_dim,
                                   2);
  const ValueId k_turned = rotary(
      "index_k_rotary", reshape("index_k_head", k_all, {batch_, Dim(1), seq_, size}), a.rope_dim);
  const ValueId k = reshape("index_k_row", k_turned, {batch_, seq_, size});
  const ValueId weights =
      linear("index_weights", x, {index.heads, false, precision(layer, Part::Router)});
  return op("index",
            OpKind::IndexKeys,
            {q, cached("index", k, 1), weights},
            {.size = index.topk, .causal = !decode_});
}

}  // namespace orrery::frontend
