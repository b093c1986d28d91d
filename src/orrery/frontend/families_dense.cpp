// Families of decoders without experts, after those of families_llama.cpp and families_other.cpp.
// SPDX-License-Identifier: Apache-2.0
//
// Source: transformers 5.24, models/*/configuration_*.py (defaults) and modeling_*.py (the rest);
// minicpm, baichuan, internlm, internlm3: the code published beside the weights.
#include <array>

#include "orrery/frontend/families_internal.h"

namespace orrery::frontend {

namespace {

constexpr std::array kFamilies = {
    Family{"Yi open_llama aquila iquestcoder skywork",
           "YiForCausalLM OpenLlamaForCausalLM AquilaForCausalLM IQuestCoderForCausalLM",
           R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias"}})"},
    Family{"mimo", "MiMoForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "window": "flag"},
      "defaults": {"attention_bias": true, "max_window_layers": 28}})"},
    Family{"minicpm", "MiniCPMForCausalLM", R"({
      "names": {"embedding_multiplier": "scale_emb"},
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias"},
      "defaults": {"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "max_position_embeddings": 2048,
        "tie_word_embeddings": true}})"},
    Family{"minicpm3", "MiniCPM3ForCausalLM", R"({
      "names": {"embedding_multiplier": "scale_emb"},
      "fixed": {"latent": true},
      "defaults": {"vocab_size": 73448, "hidden_size": 2560, "intermediate_size": 6400,
        "num_hidden_layers": 62, "num_attention_heads": 40, "max_position_embeddings": 32768,
        "q_lora_rank": 768, "kv_lora_rank": 256, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32,
        "v_head_dim": 64, "embedding_multiplier": 12, "scale_depth": 1.4, "dim_model_base": 256,
        "tie_word_embeddings": true}})"},
    Family{"youtu youtu_llm", "YoutuForCausalLM", R"({
      "fixed": {"latent": true},
      "defaults": {"vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 6144,
        "num_hidden_layers": 32, "num_attention_heads": 16, "max_position_embeddings": 131072,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "tie_word_embeddings": true}})"},
    Family{"baichuan", "BaichuanForCausalLM BaiChuanForCausalLM", R"({
      "fixed": {"alibi_without_positions": true},
      "defaults": {"vocab_size": 64000, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32}})"},
    Family{"internlm", "InternLMForCausalLM", R"({
      "fixed": {"qkv_bias": "bias", "output_bias": "bias"},
      "defaults": {"vocab_size": 103168, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "max_position_embeddings": 2048,
        "bias": true}})"},
    Family{"internlm3", "InternLM3ForCausalLM", R"({
      "fixed": {"qkv_bias": "qkv_bias", "output_bias": "bias", "mlp_bias": "bias"},
      "defaults": {"vocab_size": 128512, "hidden_size": 4096, "intermediate_size": 10240,
        "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 2,
        "head_dim": 128, "max_position_embeddings": 32768}})"},
    Family{"cwm", "CwmForCausalLM", R"({
      "fixed": {"mlp_bias": "mlp_bias", "window": "first_full"},
      "defaults": {"vocab_size": 128256, "hidden_size": 6144, "intermediate_size": 21504,
        "num_hidden_layers": 64, "num_attention_heads": 48, "num_key_value_heads": 8,
        "head_dim": 128, "sliding_window": 8192, "sliding_window_pattern": 4,
        "max_position_embeddings": 131072}})"},
    Family{"hyperclovax", "HyperCLOVAXForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias", "norm_after_too": "use_post_norm"},
      "defaults": {"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "max_position_embeddings": 2048,
        "use_post_norm": true}})"},
    Family{"vaultgemma", "VaultGemmaForCausalLM", R"({
      "names": {"hidden_act": "hidden_activation"},
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "embedding_scale": "sqrt", "window": "alternate"},
      "defaults": {"vocab_size": 256000, "hidden_size": 2304, "intermediate_size": 9216,
        "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
        "head_dim": 256, "hidden_act": "gelu_pytorch_tanh", "tie_word_embeddings": true,
        "sliding_window": 4096, "final_logit_softcapping": 30.0, "attn_logit_softcapping": 50.0,
        "max_position_embeddings": 8192}})"},
    Family{"nanochat", "NanoChatForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias", "gated": false,
        "qk_norm": "no_weight", "embedding_norm": true},
      "defaults": {"vocab_size": 50304, "hidden_size": 768, "intermediate_size": 8192,
        "num_hidden_layers": 12, "num_attention_heads": 6, "max_position_embeddings": 2048,
        "hidden_act": "relu2", "final_logit_softcapping": 15.0}})"},
    Family{"glm4v_text", "", R"({
      "fixed": {"qkv_bias": "attention_bias", "partial": 0.5, "order": "both"},
      "defaults": {"vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 13696,
        "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2,
        "attention_bias": true, "max_position_embeddings": 32768}})"},
    Family{"phi4_multimodal phi4mm", "Phi4MultimodalForCausalLM Phi4MMForCausalLM", R"({
      "fixed": {"window": "all", "towers_inside": true},
      "defaults": {"vocab_size": 200064, "hidden_size": 3072, "intermediate_size": 8192,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "max_position_embeddings": 131072}})"},
    Family{"phi3_v", "Phi3VForCausalLM", R"({
      "fixed": {"window": "all", "towers_inside": true},
      "defaults": {"vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192,
        "num_hidden_layers": 32, "num_attention_heads": 32}})"},
    Family{"jais2", "Jais2ForCausalLM", R"({
      "fixed": {"norm": "layer", "qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias", "gated": false},
      "defaults": {"vocab_size": 150272, "hidden_size": 3328, "intermediate_size": 26624,
        "num_hidden_layers": 32, "num_attention_heads": 26, "head_dim": 128,
        "hidden_act": "relu2", "attention_bias": true, "mlp_bias": true,
        "max_position_embeddings": 8192}})"},
    Family{"orion", "OrionForCausalLM", R"({
      "fixed": {"norm": "layer", "qkv_bias": "attention_bias", "output_bias": "attention_bias"},
      "defaults": {"vocab_size": 84608, "hidden_size": 4096, "intermediate_size": 15360,
        "num_hidden_layers": 40, "num_attention_heads": 40}})"},
    Family{"persimmon", "PersimmonForCausalLM", R"({
      "fixed": {"norm": "layer", "qkv_bias": true, "output_bias": true, "mlp_bias": true,
        "gated": false, "partial": 0.5, "qk_norm": "head_layer"},
      "defaults": {"vocab_size": 262144, "hidden_size": 4096, "intermediate_size": 16384,
        "num_hidden_layers": 36, "num_attention_heads": 64, "hidden_act": "relu2",
        "qk_layernorm": true, "max_position_embeddings": 16384}})"},
    Family{"gpt_neox_japanese", "GPTNeoXJapaneseForCausalLM", R"({
      "names": {"expansion_ratio": "intermediate_multiple_size"},
      "fixed": {"norm": "layer", "gated": false},
      "defaults": {"vocab_size": 32000, "hidden_size": 2560, "num_hidden_layers": 32,
        "num_attention_heads": 32, "expansion_ratio": 4, "hidden_act": "gelu",
        "max_position_embeddings": 2048, "tie_word_embeddings": true}})"},
    Family{"xglm", "XGLMForCausalLM", R"({
      "names": {"hidden_size": "d_model", "num_hidden_layers": "num_layers",
        "num_attention_heads": "attention_heads", "intermediate_size": "ffn_dim",
        "hidden_act": "activation_function"},
      "fixed": {"norm": "layer", "qkv_bias": true, "output_bias": true, "mlp_bias": true,
        "gated": false, "rotary": false, "scaled_embedding": true, "fixed_positions": true},
      "defaults": {"vocab_size": 256008, "hidden_size": 1024, "intermediate_size": 4096,
        "num_hidden_layers": 24, "num_attention_heads": 16, "hidden_act": "gelu",
        "scale_embedding": true, "max_position_embeddings": 2048,
        "tie_word_embeddings": true}})"},
    Family{"biogpt", "BioGptForCausalLM", R"({
      "fixed": {"norm": "layer", "qkv_bias": true, "output_bias": true, "mlp_bias": true,
        "gated": false, "rotary": false, "scaled_embedding": true, "positions": 2},
      "defaults": {"vocab_size": 42384, "hidden_size": 1024, "intermediate_size": 4096,
        "num_hidden_layers": 24, "num_attention_heads": 16, "hidden_act": "gelu",
        "scale_embedding": true, "max_position_embeddings": 1024,
        "tie_word_embeddings": true}})"},
    Family{"openai-gpt", "OpenAIGPTLMHeadModel", R"({
      "names": {"hidden_size": "n_embd", "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head", "max_position_embeddings": "n_positions",
        "hidden_act": "afn"},
      "fixed": {"norm": "layer", "order": "after", "qkv_bias": true, "output_bias": true,
        "mlp_bias": true, "gated": false, "rotary": false, "positions": 0, "mlp_ratio": 4,
        "final_norm": false, "activation": "gelu_new"},
      "defaults": {"vocab_size": 40478, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "max_position_embeddings": 512, "hidden_act": "gelu",
        "tie_word_embeddings": true}})"},
    Family{"ctrl", "CTRLLMHeadModel", R"({
      "names": {"hidden_size": "n_embd", "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head", "max_position_embeddings": "n_positions",
        "intermediate_size": "dff"},
      "fixed": {"norm": "layer", "qkv_bias": true, "output_bias": true, "mlp_bias": true,
        "gated": false, "rotary": false, "fixed_positions": true, "embedding_scale": "sqrt",
        "head_bias": true, "activation": "relu"},
      "defaults": {"vocab_size": 246534, "hidden_size": 1280, "intermediate_size": 8192,
        "num_hidden_layers": 48, "num_attention_heads": 16, "max_position_embeddings": 256,
        "tie_word_embeddings": true}})"},
    Family{"falcon_h1", "FalconH1ForCausalLM", R"({
      "names": {"mamba_num_heads": "mamba_n_heads", "mamba_head_dim": "mamba_d_head",
        "n_groups": "mamba_n_groups", "ssm_state_size": "mamba_d_state",
        "conv_kernel": "mamba_d_conv", "use_conv_bias": "mamba_conv_bias",
        "use_bias": "mamba_proj_bias"},
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias", "beside": "mamba2"},
      "defaults": {"vocab_size": 128000, "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "max_position_embeddings": 8192, "mamba_d_ssm": 1024, "mamba_num_heads": 128,
        "mamba_head_dim": 8, "n_groups": 1, "ssm_state_size": 256, "conv_kernel": 4}})"},
    Family{"lfm2", "Lfm2ForCausalLM", R"({
      "names": {"conv_kernel": "conv_L_cache", "use_conv_bias": "conv_bias",
        "hidden_act": "not_in_files", "intermediate_size": "block_ff_dim"},
      "fixed": {"qk_norm": "head", "mixed_recurrence": "short", "rounded_width": true},
      "defaults": {"vocab_size": 65536, "hidden_size": 2560, "intermediate_size": 12288,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "max_position_embeddings": 128000, "conv_kernel": 3, "tie_word_embeddings": true,
        "block_auto_adjust_ff_dim": true, "block_ffn_dim_multiplier": 1.0,
        "block_multiple_of": 256}})"},
};

}  // namespace

std::span<const Family> dense_families() {
  return kFamilies;
}

}  // namespace orrery::frontend
