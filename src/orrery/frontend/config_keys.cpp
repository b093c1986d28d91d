// Reading keys, and the list of those that do not matter.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/config_keys.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "orrery/base/text.h"

namespace orrery::frontend {

namespace {

/// Keys of training, sampling, tokenising and bookkeeping; numbers that scale values but add no
/// operator; the rotary embedding's angles, which are tables made once.
constexpr std::string_view kHarmless[] = {
    "_name_or_path",
    "architectures",
    "model_type",
    "transformers_version",
    "auto_map",
    "use_cache",
    "do_sample",
    "temperature",
    "top_p",
    "top_k",
    "max_length",
    "min_length",
    "id2label",
    "label2id",
    "problem_type",
    "torchscript",
    "return_dict",
    "tokenizer_class",
    "task_specific_params",
    "gradient_checkpointing",
    "chunk_size_feed_forward",
    "prefix",
    "layerdrop",
    "scale_attn_weights",
    "attn_implementation",
    "_attn_implementation",
    "num_beams",
    "num_beam_groups",
    "length_penalty",
    "diversity_penalty",
    "early_stopping",
    "exponential_decay_length_penalty",
    "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size",
    "num_return_sequences",
    "remove_invalid_values",
    "repetition_penalty",
    "typical_p",
    "bad_words_ids",
    "pruned_heads",
    "finetuning_task",
    "tf_legacy_loss",
    "use_bfloat16",
    "tie_encoder_decoder",
    "is_encoder_decoder",
    "is_decoder",
    "language",
    "license",
    "position_embedding_size",
    "rope_theta",
    "rms_norm_eps",
    "norm_topk_prob",
    "scoring_func",
    "routed_scaling_factor",
    "moe_routed_scaling_factor",
    "n_group",
    "topk_group",
    "topk_method",
    "seq_aux",
    "aux_loss_alpha",
    "ep_size",
    "rope_interleave",
    "swiglu_limit",
    "swiglu_alpha",
    "query_pre_attn_scalar",
    "attention_multiplier",
    "attention_value_scale",
    "max_window_layers",
    "original_max_position_embeddings",
    "_attn_implementation_autoset",
    "rotary_emb_base",
    "swa_rope_theta",
    "local_rope_theta",
    "global_rope_theta",
    "rope_local_base_freq",
    "router_jitter_noise",
    "input_jitter_noise",
    "moe_router_dtype",
    "router_dtype",
    "moe_layer_type",
    "cache_implementation",
    "time_step_min",
    "time_step_max",
    "time_step_floor",
    "time_step_scale",
    "time_step_limit",
    "time_step_init_scheme",
    "rescale_prenorm_residual",
    "residual_in_fp32",
    "use_mamba_kernels",
    "mamba_chunk_size",
    "chunk_size",
    "num_logits_to_keep",
    "use_mambapy",
    "use_associative_scan",
    "mixer_rms_eps",
    "A_init_range",
    "softmax_scale",
    "attention_softmax_in_fp32",
    "scale_attention_softmax_in_fp32",
    "bias_dropout_fusion",
    "apply_query_key_layer_scaling",
    "fp32_residual_connection",
    "original_rope",
    "seq_length",
    "use_dynamic_ntk",
    "use_flash_attn",
    "use_logn_attn",
    "onnx_safe",
    "bf16",
    "fp16",
    "fp32",
    "attn_uses_sequence_id",
    "init_device",
    "emb_init_std",
    "alibi_bias_max",
    "init_method_std",
    "relative_attention_num_buckets",
    "relative_attention_max_distance",
    "n_ctx",
    "attn_temperature_tuning",
    "floor_scale",
    "attn_scale",
    "for_llm_compressor",
    "output_past",
    "model_max_length",
    "max_tokenizer_truncation",
    "net_structure_type",
    "gap_size",
    "num_memory_blocks",
    "begin_suppress_tokens",
    "suppress_tokens",
    "median_filter_width",
    "use_weighted_layer_sum",
    "apply_spec_augment",
    "classifier_proj_size",
    "moe_apply_router_weight_on_input",
    "moe_shared_expert_overlap",
    "moe_aux_loss_coef",
    "qk_head_dim",
    "mtp_use_dedicated_embeddings",
    "embedding_fraction",
    "mm_tokens_per_image",
    "vision_soft_tokens_per_image",
    "vision_feature_layer",
    "vision_feature_select_strategy",
    "image_seq_length",
    "video_placeholder",
    "use_unified_vision_chunk",
    "projector_hidden_act",
    "multimodal_projector_bias",
    "rope_scaling_factor",
    "encoder_stride",
    "ignore_index",
    "unk_index",
    "sliding_window_size",
    "fourier_factor",
    "use_mrope",
    "rope_ratio",
    "logits_to_keep",
    "moe_normalize_expert_weights",
    "moe_loss_weight",
    "moe_jitter_eps",
    "expert_interval",
    "mamba_ssm_dtype",
    "mamba_ssm_cache_dtype",
    "moe_norm_min",
    "moe_capacity",
    "z_loss_coefficient",
    "layernorm_full_attention_beta",
    "layernorm_linear_attention_beta",
    "layernorm_mlp_beta",
    "vocab_size_per_layer_input",
    "attn_temperature_scale",
    "initial_context_length",
    "quantization",
    "moe_bias_update_speed",
    "n_shared_head",
    "image_break_token",
    "unsloth_version",
    "unsloth_fixed",
    "prefix_lm",
    "attn_impl",
    "router_bias_update_rate",
    "load_balance_coeff",
    "init_config",
    "verbose",
    "tokenizer_name",
    "norm_type",
    "mlp_type",
    "offset_alibi",
    "skip_bias_add",
    "skip_bias_add_qkv",
    "masked_softmax_fusion",
    "slow_but_exact",
    "conv_bias_init",
    "tokens_per_second",
    "down_scale_factor",
    "indexer_rope_interleave",
    "index_share_for_mtp_iteration",
    "scale_decoder_outputs",
    "block_size",
    "full_attn_alpha_factor",
    "full_attn_beta_factor",
    "linear_attn_alpha_factor",
    "linear_attn_beta_factor",
    "mlp_alpha_factor",
    "mlp_beta_factor",
    "media_placeholder_token_id",
    "compress_rope_theta",
    "attention_head_dim",
    "cla_share_factor",
    "enable_lm_head_fp32",
    "enable_moe_fp32_combine",
    "interpolate_factor",
    "mlp_expansion_factor",
    "moe_drop_tokens",
    "moe_gate",
    "moe_layer_num_skipped",
    "moe_random_routing_dropped_token",
    "moe_renormalize",
    "moe_router_enable_expert_bias",
    "moe_router_topk_scaling_factor",
    "moe_use_aux_free",
    "mtp_loss_scaling_factor",
    "mup_denominator",
    "model_max_length",
    "norm_head",
    "num_expert_group",
    "num_expert_groups",
    "num_limited_groups",
    "route_norm",
    "route_scale",
    "router_scaling_factor",
    "score_func",
    "score_function",
    "use_expert_bias",
    "use_grouped_mm",
    "_flash_attn_2_enabled",
    "_num_labels",
    "add_bias_logits",
    "block_dim",
    "block_mlp_init_scale",
    "block_norm_eps",
    "block_out_init_scale",
    "block_use_xavier_init",
    "class_num",
    "compression_ratio",
    "conv_dim",
    "conv_dim_out",
    "conv_use_xavier_init",
    "dense_list",
    "im_newline_id",
    "is_llama_config",
    "mask_init_id",
    "neftune_noise_alpha",
    "num_media_embeds",
    "org_vocab_size",
    "pad_id",
    "perceiver_config",
    "pixel_shuffle_factor",
    "pool_type",
    "rotary_scaling_factor",
    "transformers.js_config",
    "esmfold_config",
    "token_dropout",
    "vocab_list",
    "add_final_layer_norm",
    "classif_dropout",
    "classifier_activation",
    "classifier_bias",
    "classifier_pooling",
    "dense_seq_output",
    "deterministic_flash_attn",
    "extra_pos_embeddings",
    "force_bos_token_to_be_generated",
    "fused_bias_fc",
    "fused_dropout_add_ln",
    "layer_norm_type",
    "max_trained_positions",
    "normalize_before",
    "normalize_embedding",
    "num_labels",
    "pack_qkv",
    "pad_vocab_size_multiple",
    "reference_compile",
    "repad_logits_with_grad",
    "save_step",
    "sparse_prediction",
    "sparse_pred_ignore_index",
    "static_position_embeddings",
    "task_type_vocab_size",
    "unpad_inputs",
    "use_memory_efficient_attention",
    "use_xentropy",
    "z_loss_weight",
};

/// Words that mark a whole family of such keys.
constexpr std::string_view kHarmlessParts[] = {
    "_token_id",         "_token_ids",    "_token_index",  "dropout",
    "drop_rate",         "pdrop",         "initializer_",  "init_std",
    "summary_",          "mask_time_",    "mask_feature_", "router_aux_loss",
    "output_attentions", "output_hidden", "output_scores", "output_router",
    "return_dict",       "decoder_start", "forced_",       "_loss_coef",
    "_loss_weight",      "layerdrop",     "z_loss",        "eod_token",
    "_dtype_override",   "_start_id",     "_end_id"};

constexpr size_t kMostText = 60;        // of a value in a message
constexpr size_t kMostComplaints = 20;  // in a message
/// No size is larger; products of two stay inside int64.
constexpr int64_t kLargest = int64_t{1} << 31;

void complain(std::vector<std::string>& list, std::string text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) {
    list.push_back(std::move(text));
  }
}

std::string joined(std::vector<std::string> list) {
  const size_t all = list.size();
  if (all > kMostComplaints) {
    list.resize(kMostComplaints);
    list.push_back(fmt::format("and {} more", all - kMostComplaints));
  }
  return join(list, "; ");
}

bool all_integers(const Json& list) {
  return std::all_of(list.items.begin(), list.items.end(), [](const Json& item) {
    return item.kind == Json::Kind::Integer && item.integer >= 0;
  });
}

}  // namespace

bool is_harmless(std::string_view key) {
  return std::find(std::begin(kHarmless), std::end(kHarmless), key) != std::end(kHarmless) ||
         std::any_of(std::begin(kHarmlessParts), std::end(kHarmlessParts), [key](auto part) {
           return key.find(part) != std::string_view::npos;
         });
}

Result<void> Complaints::result(std::string_view name) const {
  if (!wrong.empty()) {
    return make_error(
        ErrorCode::InvalidInput, "[frontend.huggingface] {}: {}", name, joined(wrong));
  }
  if (!unsupported.empty()) {
    return make_error(
        ErrorCode::Unsupported, "[frontend.huggingface] {}: {}", name, joined(unsupported));
  }
  return {};
}

const Json* Keys::find(std::string_view key) const {
  if (const Json* names = family_.find("names")) {
    const Json* other = names->find(key);
    const Json* value = other == nullptr ? nullptr : config_.find(other->string);
    if (value != nullptr) {
      return value;
    }
  }
  return config_.find(key);
}

const Json* Keys::take(std::string_view key) {
  read_.emplace(key);
  if (const Json* names = family_.find("names")) {
    if (const Json* other = names->find(key)) {
      read_.insert(other->string);
    }
  }
  const Json* value = find(key);
  if (value == nullptr) {
    const Json* defaults = family_.find("defaults");
    value = defaults != nullptr ? defaults->find(key) : nullptr;
  }
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool Keys::given(std::string_view key) const {
  const Json* value = find(key);
  return value != nullptr && !value->is_null();
}

int64_t Keys::size(std::string_view key, std::optional<int64_t> missing) {
  const Json* value = take(key);
  if (value == nullptr) {
    if (!missing) {
      wrong(key, "none", "a positive integer");
    }
    return missing.value_or(0);
  }
  if (value->kind != Json::Kind::Integer || value->integer < 1) {
    wrong(key, value->to_text(), "a positive integer");
    return 0;
  }
  if (value->integer > kLargest) {
    wrong(key, value->to_text(), fmt::format("at most {}", kLargest));
    return 0;
  }
  return value->integer;
}

int64_t Keys::count(std::string_view key, int64_t missing) {
  const Json* value = take(key);
  if (value == nullptr) {
    return missing;
  }
  if (value->kind != Json::Kind::Integer || value->integer < 0) {
    wrong(key, value->to_text(), "an integer of at least 0");
    return 0;
  }
  if (value->integer > kLargest) {
    wrong(key, value->to_text(), fmt::format("at most {}", kLargest));
    return 0;
  }
  return value->integer;
}

bool Keys::flag(std::string_view key, bool missing) {
  const Json* value = take(key);
  if (value != nullptr && value->kind != Json::Kind::Bool) {
    wrong(key, value->to_text(), "true or false");
    return missing;
  }
  return value == nullptr ? missing : value->boolean;
}

double Keys::number(std::string_view key, double missing) {
  const Json* value = take(key);
  if (value == nullptr) {
    return missing;
  }
  const bool is_number = value->kind == Json::Kind::Integer || value->kind == Json::Kind::Decimal;
  if (!is_number || !std::isfinite(value->decimal)) {
    wrong(key, value->to_text(), "a number");
    return missing;
  }
  return value->decimal;
}

std::string Keys::text(std::string_view key, std::string_view missing) {
  const Json* value = take(key);
  if (value != nullptr && value->kind != Json::Kind::String) {
    wrong(key, value->to_text(), "a text");
  }
  return value == nullptr ? std::string(missing) : value->string;
}

const Json* Keys::list(std::string_view key, int64_t layers) {
  const Json* value = take(key);
  if (value == nullptr || (value->kind == Json::Kind::Array && value->items.empty())) {
    return nullptr;
  }
  const auto given = static_cast<int64_t>(value->items.size());
  if (value->kind != Json::Kind::Array || given < layers || given > layers + predictors()) {
    wrong(key, value->to_text(), fmt::format("a list of {}, one for each layer", layers));
    return nullptr;
  }
  return value;
}

const Json* Keys::integers(std::string_view key, int64_t layers) {
  const Json* value = list(key, layers);
  if (value != nullptr && !all_integers(*value)) {
    wrong(key, value->to_text(), "integers of at least 0 in it");
    return nullptr;
  }
  return value;
}

const Json* Keys::indices(std::string_view key) {
  const Json* value = take(key);
  if (value != nullptr && (value->kind != Json::Kind::Array || !all_integers(*value))) {
    wrong(key, value->to_text(), "a list of integers of at least 0");
    return nullptr;
  }
  return value;
}

/// Lists may go on with entries for these.
int64_t Keys::predictors() const {
  int64_t most = 0;
  for (const std::string_view key :
       {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}) {
    const Json* value = find(key);
    most = value == nullptr ? most : std::clamp<int64_t>(value->integer, most, 16);
  }
  return most;
}

const Json* Keys::fact(std::string_view name) const {
  const Json* fixed = family_.find("fixed");
  return fixed == nullptr ? nullptr : fixed->find(name);
}

bool Keys::fact_flag(std::string_view name, bool missing) const {
  const Json* value = fact(name);
  return value == nullptr ? missing : value->boolean;
}

std::string Keys::fact_text(std::string_view name, std::string_view missing) const {
  const Json* value = fact(name);
  return value == nullptr ? std::string(missing) : value->string;
}

bool Keys::said(std::string_view name, bool missing) {
  const Json* value = fact(name);
  if (value == nullptr) {
    return missing;
  }
  return value->kind == Json::Kind::String ? flag(value->string) : value->boolean;
}

void Keys::refuse(std::string_view key, std::string_view got, std::string_view need) {
  complain(complaints_.unsupported, fmt::format("{}{}: got {}, need {}", path_, key, got, need));
}

void Keys::refuse(std::string_view key, const Json& value, std::string_view need) {
  refuse(key, value.to_text(), need);
}

void Keys::wrong(std::string_view key, std::string_view got, std::string_view need) {
  complain(complaints_.wrong, fmt::format("{}{}: got {}, need {}", path_, key, got, need));
}

void Keys::wrong(std::string_view key, const Json& value, std::string_view need) {
  wrong(key, value.to_text(), need);
}

void Keys::refuse_unread() {
  for (const auto& [key, value] : config_.members) {
    const bool off = value.is_null() || (value.kind == Json::Kind::Bool && !value.boolean) ||
                     (value.kind == Json::Kind::Array && value.items.empty()) ||
                     (value.kind == Json::Kind::Object && value.members.empty());
    // Absent means true: false is what changes something.
    const bool on_by_default = key == "is_causal" || key == "use_causal_mask";
    const bool changes = on_by_default ? value.kind == Json::Kind::Bool && !value.boolean : !off;
    if (changes && !read_.contains(key) && (on_by_default || !is_harmless(key))) {
      complaints_.unsupported.push_back(
          fmt::format("{}{}: not understood, and it may change what is computed (got {})",
                      path_,
                      std::string_view(key).substr(0, kMostText),
                      value.to_text()));
    }
  }
}

}  // namespace orrery::frontend
