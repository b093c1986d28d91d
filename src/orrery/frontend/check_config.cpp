// Keys that no part of a model reads: what a class does anyway, and what stands beside a text part.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/base/text.h"
#include "orrery/frontend/huggingface_internal.h"

namespace orrery::frontend {

namespace {

/// Layers that predict further tokens are not part of a step.
void note_predictors(Keys& keys, Model& model) {
  int64_t layers = 0;
  for (const std::string_view key :
       {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}) {
    layers = std::max(layers, keys.count(key));
  }
  keys.take("mtp_transformer_layers");
  keys.take("mtp_hybrid_override_pattern");
  keys.take("mtp_layers_block_type");
  keys.flag("use_mtp");
  if (layers > 0) {
    model.notes.push_back(fmt::format(
        "layers that predict further tokens ({}) are neither timed nor counted", layers));
  }
}

/// Gemma 4: what its small models do besides.
void refuse_per_layer_inputs(Keys& keys) {
  if (!keys.fact_flag("experts_beside_dense")) {
    return;
  }
  for (const std::string_view key : {"hidden_size_per_layer_input", "num_kv_shared_layers"}) {
    if (const int64_t count = keys.count(key); count > 0) {
      keys.refuse(key, fmt::format("{}", count), "0");
    }
  }
  if (keys.flag("use_double_wide_mlp")) {
    keys.refuse("use_double_wide_mlp", "true", "false");
  }
  keys.flag("enable_moe_block");
  keys.take("use_bidirectional_attention");
}

/// What a class does that leaves time as it is, or is left out, said once.
void note_others(Keys& keys, Model& model) {
  bool folds = false;
  for (const std::string_view key : {"lm_head_multiplier",
                                     "mlp_multipliers",
                                     "key_multiplier",
                                     "attention_in_multiplier",
                                     "attention_out_multiplier",
                                     "ssm_multipliers",
                                     "ssm_in_multiplier",
                                     "ssm_out_multiplier"}) {
    const bool read = keys.fact("beside") != nullptr && keys.take(key) != nullptr;
    folds = folds || read;
  }
  if (folds) {
    model.notes.emplace_back("constant multipliers are taken as multiplied into the weights");
  }
  if (!keys.fact_flag("towers_inside")) {
    return;
  }
  for (const std::string_view key : {"embd_layer",
                                     "img_processor",
                                     "audio_processor",
                                     "audio_config",
                                     "vision_lora",
                                     "speech_lora",
                                     "full_attn_mod"}) {
    keys.take(key);
  }
  model.notes.emplace_back(
      "towers of images and sound and the adapters they switch on are neither timed nor counted");
}

/// Keys that say what the class does anyway: any other value is not understood.
void check_fixed(Keys& keys) {
  static constexpr std::pair<std::string_view, bool> kFlags[] = {
      {"rmsnorm", true},
      {"post_layer_norm", true},
      {"no_bias", true},
      {"multi_query_attention", true},
      {"apply_residual_connection_post_layernorm", false},
      {"learned_pos_emb", true},
      {"layer_norm_elementwise_affine", true},
      {"_remove_final_layer_norm", false},
      {"add_cross_attention", false},
      {"use_rotary_pos_emb", true},
      {"use_mixed_mlp_moe", true},
      {"use_rmsnorm", true},
      {"mamba_use_mlp", true},
      {"decoder_bias", true},
      {"lm_head", true},
      {"mamba_inner_layernorms", true},
      {"block_use_swiglu", true},
      {"use_pos_enc", true},
      {"share_encoder_decoder_embeddings", true},
      {"mlp_fc2_bias", false},
      {"scale_embedding", false},
      {"reorder_and_upcast_attn", false},
      {"scale_attn_by_inverse_layer_idx", false}};
  for (const auto& [key, need] : kFlags) {
    const Json* value = keys.take(key);
    const bool known = key == "scale_embedding" && keys.fact_flag("scaled_embedding");
    if (!known && value != nullptr && value->kind == Json::Kind::Bool && value->boolean != need) {
      keys.refuse(key, *value, need ? "true" : "false");
    }
  }
  if (const int64_t slices = keys.count("pretraining_tp", 1); slices != 1) {
    keys.refuse("pretraining_tp", fmt::format("{}", slices), "1");
  }
  if (keys.fact("positions_kind") != nullptr) {
    const std::string need = keys.fact_text("positions_kind");
    if (const std::string kind = keys.text("position_embedding_type", need); kind != need) {
      keys.refuse("position_embedding_type", kind, need);
    }
  }
  if (const double cap = keys.number("moe_router_logit_softcapping", 0); cap != 0) {
    keys.refuse("moe_router_logit_softcapping", fmt::format("{}", cap), "0");
  }
  if (const std::string type = keys.text("attn_type", "multihead_attention");
      type != "multihead_attention") {
    keys.refuse("attn_type", type, "multihead_attention");
  }
  for (const std::string_view key : {"attention_chunk_size",
                                     "sliding_window",
                                     "layer_types",
                                     "v_head_dim",
                                     "kv_channels",
                                     "head_dim"}) {
    keys.take(key);
  }
}

/// Keys beside a text part that say how images and sound become rows of it.
constexpr std::string_view kImageKeys[] = {"adapter_layer_norm_eps",
                                           "alignment_intermediate_size",
                                           "candidate_resolutions",
                                           "downsample_factor",
                                           "downsample_ratio",
                                           "dynamic_image_size",
                                           "force_image_size",
                                           "global_view_pos",
                                           "image_fold",
                                           "image_grid_pinpoints",
                                           "image_newline_parameter",
                                           "max_dynamic_patch",
                                           "max_value_projector_patch_to_query_dict",
                                           "min_dynamic_patch",
                                           "pad2square",
                                           "perceiver_config",
                                           "projection_dim",
                                           "projector_bias",
                                           "projector_hidden_size",
                                           "projector_layernorm_eps",
                                           "projector_patch_to_query_dict",
                                           "projector_use_layernorm",
                                           "ps_version",
                                           "qformer_config",
                                           "scale_factor",
                                           "select_layer",
                                           "spatial_merge_size",
                                           "template",
                                           "tile_tag",
                                           "use_backbone_lora",
                                           "use_image_newline_parameter",
                                           "use_llm_lora",
                                           "use_thumbnail",
                                           "video_seq_length",
                                           "vision_aspect_ratio",
                                           "vision_feature_layers",
                                           "visual_indicator_token_ids",
                                           "vision_layers",
                                           "position_id_per_seconds",
                                           "seconds_per_chunk",
                                           "audio_end_token_id",
                                           "user_token_id",
                                           "logit_scale_init_value",
                                           "text_config_dict",
                                           "vision_config_dict"};

}  // namespace

void check_rest(Keys& keys, Model& model) {
  note_predictors(keys, model);
  note_others(keys, model);
  refuse_per_layer_inputs(keys);
  check_fixed(keys);
}

void check_outside(bool inner, Keys& outer) {
  for (const std::string_view key : {"text_config",
                                     "vision_config",
                                     "audio_config",
                                     "img_processor",
                                     "quantization_config",
                                     "tie_word_embeddings",
                                     "rope_scaling",
                                     "hidden_size",
                                     "vocab_size",
                                     "text_config",
                                     "llm_config",
                                     "language_config",
                                     "projector_config"}) {
    outer.take(key);
  }
  for (const std::string_view key : kImageKeys) {
    outer.take(key);
  }
  if (inner) {
    outer.refuse_unread();
  }
}

}  // namespace orrery::frontend
