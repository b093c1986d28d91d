// Encoder-decoders: T5, whose encoder reads text, and Whisper, whose encoder hears 30 seconds.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "orrery/frontend/huggingface_internal.h"
#include "orrery/frontend/read_layers_internal.h"

namespace orrery::frontend {

namespace {

Stack stack_of(int64_t times, Layer layer) {
  Stack stack;
  stack.groups = {{times, {std::move(layer)}}};
  return stack;
}

/// "gated-gelu": a gate and its activation; "relu": none.
Dense dense_of(Keys& keys) {
  Dense dense;
  dense.width = keys.size("intermediate_size");
  const std::string kind = keys.text("feed_forward_proj", "relu");
  dense.gated = kind.starts_with("gated-");
  const std::string name = dense.gated ? kind.substr(6) : kind;
  const auto activation = find_activation(dense.gated && name == "gelu" ? "gelu_new" : name);
  if (!activation) {
    keys.refuse("feed_forward_proj", kind, "relu, gated-gelu, gated-silu");
  }
  dense.activation = activation.value_or(graph::OpKind::Relu);
  keys.text("dense_act_fn");
  keys.flag("is_gated_act");
  return dense;
}

void read_text(Keys& keys, Model& model) {
  Layer layer;
  Attention attention = read_attention(keys, model.hidden);
  layer.dense = dense_of(keys);
  Layer encoder = layer;
  Attention all = attention;
  all.causal = false;
  encoder.mixer = all;
  layer.mixer = attention;
  attention.cross = true;
  attention.causal = false;
  attention.biased = false;
  layer.cross = attention;
  const int64_t layers = keys.size("num_hidden_layers");
  model.stack = stack_of(keys.size("num_decoder_layers", layers), layer);
  Model source;
  source.name = model.name + " encoder";
  source.hidden = model.hidden;
  source.input.vocabulary = model.input.vocabulary;
  source.stack = stack_of(layers, encoder);
  source.decodes = false;
  source.head.logits = false;
  source.norm = model.norm;
  source.epsilon = model.epsilon;
  model.encoder = {source};
}

void read_sound(Keys& keys, Model& model) {
  Layer layer;
  Attention attention = read_attention(keys, model.hidden);
  layer.dense = Dense{.width = keys.size("intermediate_size"),
                      .gated = false,
                      .bias = true,
                      .activation = read_activation(keys, "hidden_act", "gelu")};
  layer.mixer = attention;
  attention.cross = true;
  attention.causal = false;
  layer.cross = attention;
  model.stack = stack_of(keys.size("num_hidden_layers"), layer);
  Model source;
  source.name = model.name + " encoder";
  source.hidden = model.hidden;
  source.norm = model.norm;
  source.epsilon = model.epsilon;
  source.decodes = false;
  source.head.logits = false;
  source.input.patches = keys.size("max_source_positions");
  source.input.positions = source.input.patches;
  source.input.patch_width = 3 * keys.size("num_mel_bins");  // a convolution over three frames
  source.input.halved = true;
  Layer encoder;
  Attention own = attention;
  own.cross = false;
  own.heads = keys.size("encoder_attention_heads", own.heads);
  own.kv_heads = own.heads;
  encoder.mixer = own;
  encoder.dense = layer.dense;
  encoder.dense->width = keys.size("encoder_ffn_dim", encoder.dense->width);
  source.stack = stack_of(keys.size("encoder_layers"), encoder);
  keys.count("num_mel_bins");
  model.encoder = {source};
}

/// Rows of positions, the norm and the scale after the embedding, which both halves have.
void read_both_inputs(Keys& keys, Model& model) {
  Input& input = model.input;
  const Json* beyond = keys.fact("positions");
  input.positions = model.most_positions + (beyond != nullptr ? beyond->integer : 0);
  input.learned = !keys.fact_flag("fixed_positions");
  input.norm = keys.fact_flag("embedding_norm");
  if (keys.flag("scale_embedding")) {
    input.scale = std::sqrt(static_cast<double>(model.hidden));
  }
  const int64_t rows = keys.count("decoder_vocab_size", input.vocabulary);
  if (rows != input.vocabulary) {
    keys.refuse("decoder_vocab_size", fmt::format("{}", rows), "as many as vocab_size");
  }
}

/// BART and its kin: two stacks with layer norms over one table of tokens.
void read_both(Keys& keys, Model& model) {
  read_both_inputs(keys, model);
  Layer layer;
  layer.order = keys.fact_text("order") == "after" ? NormOrder::AfterSum : NormOrder::Pre;
  Attention attention = read_attention(keys, model.hidden);
  layer.dense = Dense{.width = keys.size("intermediate_size"),
                      .gated = false,
                      .bias = true,
                      .activation = read_activation(keys, "hidden_act", "gelu")};
  Layer encoder = layer;
  layer.mixer = attention;
  attention.causal = false;
  Attention own = attention;
  own.heads = keys.size("encoder_attention_heads", own.heads);
  own.kv_heads = own.heads;
  own.head_dim = model.hidden / std::max<int64_t>(own.heads, 1);
  own.value_dim = own.head_dim;
  encoder.mixer = own;
  encoder.dense->width = keys.size("encoder_ffn_dim", encoder.dense->width);
  attention.cross = true;
  layer.cross = attention;
  const int64_t layers = keys.size("num_hidden_layers");
  model.stack = stack_of(layers, layer);
  Model source;
  source.name = model.name + " encoder";
  source.hidden = model.hidden;
  source.norm = model.norm;
  source.epsilon = model.epsilon;
  source.input = model.input;
  source.stack = stack_of(keys.size("encoder_layers", layers), encoder);
  const Json* final_norm = keys.fact("final_norm");
  source.stack.final_norm = final_norm == nullptr || final_norm->boolean;
  model.stack.final_norm = source.stack.final_norm;
  source.decodes = false;
  source.head.logits = false;
  model.encoder = {source};
}

}  // namespace

void read_encoder_decoder(Keys& keys, Model& model) {
  model.hidden = keys.size("hidden_size");
  model.input.vocabulary = keys.size("vocab_size");
  model.most_positions = keys.count("max_position_embeddings");
  if (keys.fact_text("encoder_decoder") == "text") {
    read_text(keys, model);
  } else if (keys.fact_text("encoder_decoder") == "both") {
    read_both(keys, model);
  } else {
    model.input.positions = model.most_positions;
    read_sound(keys, model);
  }
  keys.take("num_hidden_layers");
  keys.count("num_hidden_layers");
}

}  // namespace orrery::frontend
