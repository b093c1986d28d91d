// Families of decoders with experts, after those of families_llama.cpp.
// SPDX-License-Identifier: Apache-2.0
//
// Source: transformers 5.24, models/*/configuration_*.py (defaults) and modeling_*.py (the rest);
// bailing_moe: configuration_bailing_moe_v2.py and modeling_bailing_moe_v2.py of Ling 2.0.
#include <array>

#include "orrery/frontend/families_internal.h"

namespace orrery::frontend {

namespace {

constexpr std::array kFamilies = {
    Family{"ernie4_5_moe", "Ernie4_5_MoeForCausalLM", R"({
      "names": {"num_experts_per_tok": "moe_k", "n_shared_experts": "moe_num_shared_experts"},
      "fixed": {"qkv_bias": "use_bias", "output_bias": "use_bias", "mlp_bias": "use_bias"},
      "defaults": {"vocab_size": 103424, "hidden_size": 2560, "intermediate_size": 12288,
        "num_hidden_layers": 28, "num_attention_heads": 20, "num_key_value_heads": 4,
        "max_position_embeddings": 131072, "tie_word_embeddings": true,
        "moe_intermediate_size": 1536, "num_experts_per_tok": 6, "moe_num_experts": 64,
        "n_shared_experts": 2, "moe_layer_start_index": 1}})"},
    Family{"hunyuan_v1_moe", "HunYuanMoEV1ForCausalLM", R"({
      "names": {"num_experts_per_tok": "moe_topk", "n_shared_experts": "num_shared_expert"},
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias", "qk_norm": "head"},
      "defaults": {"vocab_size": 290943, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "max_position_embeddings": 2048,
        "num_experts": 1, "num_experts_per_tok": 1, "n_shared_experts": 1}})"},
    Family{"bailing_moe", "BailingMoeForCausalLM", R"({
      "fixed": {"qkv_bias": "use_qkv_bias", "output_bias": "use_bias", "mlp_bias": "use_bias",
        "window": "flag"},
      "defaults": {"moe_layer_freq": 1}})"},
    Family{"bailing_moe_v2", "BailingMoeV2ForCausalLM", R"({
      "fixed": {"qkv_bias": "use_qkv_bias", "output_bias": "use_bias", "mlp_bias": "use_bias",
        "window": "flag"},
      "defaults": {"vocab_size": 157184, "hidden_size": 2048, "intermediate_size": 5120,
        "num_hidden_layers": 20, "num_attention_heads": 16, "num_key_value_heads": 4,
        "head_dim": 128, "use_qk_norm": true, "num_experts": 256, "num_experts_per_tok": 8,
        "num_shared_experts": 1, "moe_intermediate_size": 512, "first_k_dense_replace": 1,
        "max_position_embeddings": 32768}})"},
    Family{"exaone_moe", "ExaoneMoeForCausalLM", R"({
      "fixed": {"qk_norm": "head", "window": "period", "nope": "full"},
      "defaults": {"vocab_size": 102400, "hidden_size": 4096, "intermediate_size": 16384,
        "num_hidden_layers": 32, "num_attention_heads": 32, "max_position_embeddings": 2048,
        "sliding_window": 4096, "sliding_window_pattern": 4, "first_k_dense_replace": 1,
        "moe_intermediate_size": 1024, "num_experts": 64, "num_experts_per_tok": 8,
        "num_shared_experts": 1}})"},
    Family{"glm4_moe_lite", "Glm4MoeLiteForCausalLM", R"({
      "fixed": {"latent": true},
      "defaults": {"vocab_size": 154880, "hidden_size": 2048, "intermediate_size": 10240,
        "moe_intermediate_size": 1536, "num_hidden_layers": 47, "num_attention_heads": 20,
        "n_shared_experts": 1, "n_routed_experts": 64, "kv_lora_rank": 512, "q_lora_rank": 768,
        "qk_rope_head_dim": 64, "v_head_dim": 256, "qk_nope_head_dim": 192, "head_dim": 64,
        "num_experts_per_tok": 4, "first_k_dense_replace": 1,
        "max_position_embeddings": 202752}})"},
    Family{"mistral4", "Mistral4ForCausalLM", R"({
      "fixed": {"latent": true},
      "defaults": {"vocab_size": 131072, "hidden_size": 4096, "intermediate_size": 12288,
        "moe_intermediate_size": 2048, "num_hidden_layers": 36, "num_attention_heads": 32,
        "n_shared_experts": 1, "n_routed_experts": 128, "kv_lora_rank": 256, "q_lora_rank": 1024,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "qk_nope_head_dim": 64, "head_dim": 128,
        "num_experts_per_tok": 4, "max_position_embeddings": 1048576}})"},
    Family{"afmoe", "AfmoeForCausalLM", R"({
      "names": {"first_k_dense_replace": "num_dense_layers",
        "sliding_window_pattern": "global_attn_every_n_layers"},
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias", "order": "both",
        "qk_norm": "head", "output_gate": true, "window": "period", "nope": "full"},
      "defaults": {"vocab_size": 200192, "hidden_size": 2048, "intermediate_size": 6144,
        "moe_intermediate_size": 1408, "num_hidden_layers": 32, "num_attention_heads": 16,
        "head_dim": 128, "max_position_embeddings": 16384, "num_experts": 64,
        "num_experts_per_tok": 6, "num_shared_experts": 2, "first_k_dense_replace": 1,
        "sliding_window": 1024, "sliding_window_pattern": 4}})"},
    Family{"solar_open", "SolarOpenForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias"},
      "defaults": {"vocab_size": 196608, "hidden_size": 4096, "num_hidden_layers": 48,
        "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
        "moe_intermediate_size": 1280, "n_routed_experts": 128, "n_shared_experts": 1,
        "num_experts_per_tok": 8, "max_position_embeddings": 131072}})"},
    Family{"hy_v3", "HYV3ForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias", "qk_norm": "head"},
      "defaults": {"vocab_size": 120832, "hidden_size": 4096, "intermediate_size": 13312,
        "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
        "head_dim": 128, "max_position_embeddings": 131072, "num_experts": 192,
        "num_experts_per_tok": 8, "num_shared_experts": 1, "moe_intermediate_size": 1536,
        "first_k_dense_replace": 1}})"},
    Family{"sarvam_moe", "SarvamMoEForCausalLM", R"({
      "fixed": {"qkv_bias": "use_qkv_bias", "output_bias": "use_bias", "mlp_bias": "use_bias",
        "qk_norm": "head"},
      "defaults": {"first_k_dense_replace": 1, "num_shared_experts": 1}})"},
    Family{"sarvam_mla", "SarvamMLAForCausalLM", R"({
      "fixed": {"latent": true},
      "defaults": {"first_k_dense_replace": 1, "num_shared_experts": 1}})"},
    Family{"mellum", "MellumForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "qk_norm": "head", "window": "list"},
      "defaults": {"vocab_size": 98304, "hidden_size": 2304, "intermediate_size": 7168,
        "num_hidden_layers": 28, "num_attention_heads": 32, "num_key_value_heads": 4,
        "head_dim": 128, "max_position_embeddings": 131072, "sliding_window": 1024,
        "moe_intermediate_size": 896, "num_local_experts": 64, "num_experts_per_tok": 8}})"},
    Family{"flex_olmo", "FlexOlmoForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias", "order": "post",
        "qk_norm": "width"},
      "defaults": {"vocab_size": 100352, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "max_position_embeddings": 4096,
        "num_experts": 7, "num_experts_per_tok": 5}})"},
    Family{"aria_text", "AriaTextForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias"},
      "names": {"n_shared_experts": "moe_num_shared_experts"},
      "defaults": {"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 4096,
        "num_hidden_layers": 32, "num_attention_heads": 32, "max_position_embeddings": 2048,
        "moe_num_experts": 8, "moe_topk": 2, "n_shared_experts": 2}})"},
    Family{"glm4v_moe_text", "", R"({
      "fixed": {"qkv_bias": "attention_bias", "partial": 0.5},
      "defaults": {"vocab_size": 151424, "hidden_size": 4096, "intermediate_size": 10944,
        "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8,
        "max_position_embeddings": 65536, "attention_bias": true,
        "moe_intermediate_size": 1408, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "n_routed_experts": 128, "first_k_dense_replace": 1}})"},
    Family{"jamba", "JambaForCausalLM", R"({
      "names": {"state_size": "mamba_d_state", "conv_kernel": "mamba_d_conv",
        "time_step_rank": "mamba_dt_rank", "use_conv_bias": "mamba_conv_bias",
        "use_bias": "mamba_proj_bias"},
      "fixed": {"rotary": false, "mixed_recurrence": "mamba1"},
      "defaults": {"vocab_size": 65536, "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "max_position_embeddings": 262144, "num_experts": 16, "num_experts_per_tok": 2,
        "expert_layer_period": 2, "expert_layer_offset": 1, "attn_layer_period": 8,
        "attn_layer_offset": 4, "state_size": 16, "conv_kernel": 4, "mamba_expand": 2}})"},
    Family{"lfm2_moe", "Lfm2MoeForCausalLM", R"({
      "names": {"first_k_dense_replace": "num_dense_layers", "conv_kernel": "conv_L_cache",
        "use_conv_bias": "conv_bias"},
      "fixed": {"qk_norm": "head", "mixed_recurrence": "short"},
      "defaults": {"vocab_size": 65536, "hidden_size": 2048, "intermediate_size": 7168,
        "moe_intermediate_size": 1792, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "max_position_embeddings": 128000, "num_experts": 32,
        "num_experts_per_tok": 4, "first_k_dense_replace": 2, "conv_kernel": 3,
        "tie_word_embeddings": true}})"},
};

}  // namespace

std::span<const Family> expert_families() {
  return kFamilies;
}

}  // namespace orrery::frontend
