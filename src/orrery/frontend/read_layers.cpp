// Layers of a stack from its plan and what all layers share; what single families do besides.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/read_layers_internal.h"

#include <algorithm>
#include <cmath>

#include "orrery/base/text.h"

namespace orrery::frontend {

namespace {

/// What stands in the object of one layer type: rope_parameters.full_attention.
const Json* of_type(Keys& keys, std::string_view key, std::string_view type) {
  const Json* all = keys.take(key);
  return all == nullptr ? nullptr : all->find(type);
}

/// Gemma 4: full layers have heads of their own size, and their keys serve as values.
void widen_full_layer(Keys& keys, Attention& attention) {
  if (keys.take("global_head_dim") == nullptr) {
    return;
  }
  attention.head_dim = keys.size("global_head_dim");
  attention.value_dim = attention.head_dim;
  attention.rotary_dim = attention.head_dim;
  attention.values_are_keys = keys.flag("attention_k_eq_v");
  const int64_t heads = keys.count("num_global_key_value_heads");
  attention.kv_heads = attention.values_are_keys && heads > 0 ? heads : attention.kv_heads;
}

/// MiMo-V2: layers with a window have heads of their own number and size, and sinks.
void vary_sliding_layer(Keys& keys, bool sliding, Attention& attention) {
  if (keys.take("v_head_dim") != nullptr) {
    attention.value_dim = keys.size("v_head_dim");
  }
  if (sliding) {
    attention.heads = keys.size("swa_num_attention_heads", attention.heads);
    attention.kv_heads = keys.size("swa_num_key_value_heads", attention.kv_heads);
    attention.head_dim = keys.size("swa_head_dim", attention.head_dim);
    attention.value_dim = keys.size("swa_v_head_dim", attention.value_dim);
  }
  attention.sinks = attention.sinks || keys.flag(sliding ? "add_swa_attention_sink_bias"
                                                         : "add_full_attention_sink_bias");
}

/// Laguna: heads by layer, rotary shares by layer type, a gate a head.
void vary_heads(Keys& keys, size_t layer, bool sliding, int64_t layers, Attention& attention) {
  if (const Json* heads = keys.integers("num_attention_heads_per_layer", layers)) {
    attention.heads = heads->items[layer].integer;
  }
  const Json* type =
      of_type(keys, "rope_parameters", sliding ? "sliding_attention" : "full_attention");
  const Json* share = type == nullptr ? nullptr : type->find("partial_rotary_factor");
  if (share != nullptr) {
    attention.rotary_dim =
        2 *
        static_cast<int64_t>(static_cast<double>(attention.head_dim) * share->decimal / 2 + 1e-9);
  }
  const Json* gate = keys.take("gating");
  if (gate == nullptr || (gate->kind == Json::Kind::Bool && !gate->boolean)) {
    return;
  }
  attention.head_gate = gate->kind == Json::Kind::Bool || gate->string == "per-head";
  attention.output_gate = !attention.head_gate;
}

Attention attention_of(Keys& keys, const Shared& shared, const LayerPlan& plan, size_t layer) {
  Attention attention = shared.attention;
  const bool sliding = plan.mixer == MixerKind::Sliding;
  attention.window = sliding ? shared.window : 0;
  if (keys.fact_flag("value_norm") && !sliding) {
    widen_full_layer(keys, attention);
  }
  if (keys.take("hybrid_layer_pattern") != nullptr) {
    vary_sliding_layer(keys, sliding, attention);
  }
  if (keys.take("gating") != nullptr) {
    vary_heads(keys, layer, sliding, shared.layers, attention);
  }
  const bool chunks =
      keys.fact_text("nope") == "interval" && keys.take("attention_chunk_size") != nullptr;
  if (chunks && plan.rotary) {
    attention.chunk = keys.size("attention_chunk_size");
    attention.qk_norm = attention.qk_norm == QkNorm::Head ? QkNorm::NoWeight : attention.qk_norm;
  } else if (chunks) {
    attention.qk_norm = QkNorm::None;
  }
  attention.rotary_dim = plan.rotary ? attention.rotary_dim : 0;
  return attention;
}

/// indexer_types: layers that take the choice of the one before.
void share_choice(Keys& keys, size_t layer, int64_t layers, LatentAttention& latent) {
  if (!latent.indexer) {
    return;
  }
  const Json* types = keys.list("indexer_types", layers);
  keys.take("index_topk_freq");
  keys.take("index_skip_topk_offset");
  if (types == nullptr) {
    const int64_t every = keys.size("index_topk_freq", 1);
    const int64_t from = static_cast<int64_t>(layer) - keys.count("index_skip_topk_offset", 2) + 1;
    latent.indexer->shared = std::max<int64_t>(from, 0) % every != 0;
    return;
  }
  const std::string& type = types->items[layer].string;
  if (type != "full" && type != "shared") {
    keys.refuse("indexer_types", types->items[layer], "full or shared");
  }
  latent.indexer->shared = type == "shared" && layer > 0;
}

/// block_configs: attention and feed-forward of each layer apart, either of which may be missing.
void read_block(Keys& keys, const Json& block, const Shared& shared, Layer& layer) {
  const Json* attention = block.find("attention");
  const Json* ffn = block.find("ffn");
  if (attention == nullptr || ffn == nullptr || !attention->is_object() || !ffn->is_object()) {
    keys.wrong("block_configs", block.to_text(), "objects with 'attention' and 'ffn'");
    return;
  }
  const auto is = [](const Json* object, std::string_view key) {
    const Json* value = object->find(key);
    return value != nullptr && value->boolean;
  };
  for (const auto& [object, what] : {std::pair(attention, "attention"), std::pair(ffn, "ffn")}) {
    if (is(object, "replace_with_linear")) {
      keys.refuse(fmt::format("block_configs.{}.replace_with_linear", what), "true", "false");
    }
  }
  const Json* group = attention->find("n_heads_in_group");
  if (group != nullptr && !group->is_null() && !is(attention, "no_op")) {
    if (group->integer < 1) {
      keys.wrong("block_configs.attention.n_heads_in_group", *group, "a positive integer");
    }
    Attention own = shared.attention;
    own.kv_heads = own.heads / std::max<int64_t>(group->integer, 1);
    layer.mixer = own;
  }
  const Json* ratio = ffn->find("ffn_mult");
  if (ratio != nullptr && !ratio->is_null() && !is(ffn, "no_op")) {
    constexpr double kMostTimes = 1000;  // of the hidden size: more is a typing error
    if (!(ratio->decimal > 0 && ratio->decimal < kMostTimes)) {
      keys.wrong("block_configs.ffn.ffn_mult", *ratio, "over 0, below 1000");
      return;
    }
    // 2/3 of it times the hidden size, rounded up to 256: modeling_decilm.py.
    const auto wide =
        static_cast<int64_t>(2 * ratio->decimal * static_cast<double>(shared.hidden) / 3);
    layer.dense = Dense{.width = (wide + 255) / 256 * 256};
  }
}

Mixer mixer_of(Keys& keys, const Shared& shared, const LayerPlan& plan, size_t layer) {
  if (plan.mixer == MixerKind::None) {
    return {};
  }
  if (plan.mixer == MixerKind::Recurrent) {
    return read_recurrence(keys, shared);
  }
  if (keys.fact_flag("latent") && keys.flag("use_mla", true)) {
    LatentAttention latent = read_latent(keys, shared);
    share_choice(keys, layer, shared.layers, latent);
    return latent;
  }
  for (const std::string_view key :
       {"kv_lora_rank", "q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim"}) {
    if (keys.fact_flag("latent")) {  // and use_mla is false
      keys.take(key);
    }
  }
  return attention_of(keys, shared, plan, layer);
}

/// Parameters of Gemma 4's layers beside those of its operators: three more norms beside the
/// experts, the router's scales, and a scale of the layer.
int64_t extra_parameters(Keys& keys, const Shared& shared) {
  if (!keys.fact_flag("experts_beside_dense") || !shared.experts) {
    return 0;
  }
  return 4 * shared.hidden + 2 * shared.experts->count + 1;
}

Layer layer_of(Keys& keys, const Shared& shared, const LayerPlan& plan, size_t index) {
  Layer layer;
  layer.mixer = mixer_of(keys, shared, plan, index);
  if (plan.experts) {
    layer.experts = shared.experts;
  }
  keys.take("intermediate_size_mlp");
  if (plan.dense) {
    layer.dense = shared.dense;
    layer.dense->width =
        plan.experts ? layer.dense->width : keys.size("intermediate_size_mlp", layer.dense->width);
  }
  layer.order = shared.order;
  layer.parallel = keys.said("parallel");
  const Json* one = keys.fact("one_norm");
  layer.one_norm = layer.parallel && (one == nullptr || one->boolean);
  if (keys.fact_flag("falcon")) {
    const bool wide = keys.flag("new_decoder_architecture");
    layer.parallel = layer.parallel || wide;
    layer.one_norm = layer.parallel && keys.count("num_ln_in_parallel_attn", wide ? 2 : 1) < 2;
  }
  if (keys.fact("beside") != nullptr) {
    layer.beside = std::get<Mamba2>(read_recurrence(keys, shared));
  }
  layer.residual_scale = keys.number("residual_multiplier", 1);
  if (keys.take("scale_depth") != nullptr) {  // MiniCPM
    layer.residual_scale =
        keys.number("scale_depth", 1) / std::sqrt(static_cast<double>(shared.layers));
  }
  for (const std::string_view key : {"layernorm_full_attention_alpha",
                                     "layernorm_linear_attention_alpha",
                                     "layernorm_mlp_alpha"}) {
    layer.carried_scale = keys.number(key, layer.carried_scale);
  }
  layer.extra_parameters = extra_parameters(keys, shared);
  return layer;
}

}  // namespace

std::vector<Layer> read_layers(Keys& keys, Shared& shared) {
  std::vector<Layer> layers;
  if (keys.fact_flag("blocks")) {
    const Json* blocks = keys.list("block_configs", shared.layers);
    if (blocks == nullptr) {
      keys.wrong("block_configs", "none", "one for each layer");
      return layers;
    }
    for (int64_t i = 0; i < shared.layers; ++i) {
      Layer layer;
      read_block(keys, blocks->items[static_cast<size_t>(i)], shared, layer);
      layers.push_back(std::move(layer));
    }
    return layers;
  }
  const std::vector<LayerPlan> plans = read_plan(keys, shared);
  for (size_t i = 0; i < plans.size(); ++i) {
    layers.push_back(layer_of(keys, shared, plans[i], i));
  }
  return layers;
}

}  // namespace orrery::frontend
