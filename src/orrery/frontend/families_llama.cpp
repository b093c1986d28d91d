// Families of decoders with RMS norms.
// SPDX-License-Identifier: Apache-2.0
//
// Source: transformers 5.24, models/*/configuration_*.py (defaults) and modeling_*.py (the rest).
#include <array>

#include "orrery/frontend/families_internal.h"

namespace orrery::frontend {

namespace {

constexpr std::array kFamilies = {
    Family{"llama", "LlamaForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias"},
      "defaults": {"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "max_position_embeddings": 2048}})"},
    Family{"ministral3", "Ministral3ForCausalLM", R"({
      "fixed": {"window": "all"},
      "defaults": {"vocab_size": 131072, "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 34, "num_attention_heads": 32, "num_key_value_heads": 8,
        "head_dim": 128, "max_position_embeddings": 262144}})"},
    Family{"mistral ministral", "MistralForCausalLM", R"({
      "fixed": {"window": "all"},
      "defaults": {"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "sliding_window": 4096}})"},
    Family{"qwen2", "Qwen2ForCausalLM", R"({
      "fixed": {"qkv_bias": true, "window": "flag"},
      "defaults": {"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "max_position_embeddings": 32768, "max_window_layers": 28}})"},
    Family{"qwen2_vl qwen2_5_vl qwen2_vl_text qwen2_5_vl_text qwen2_5_omni_text",
           "Qwen2VLForConditionalGeneration Qwen2_5_VLForConditionalGeneration",
           R"({
      "fixed": {"qkv_bias": true, "window": "flag"},
      "defaults": {"max_window_layers": 28}})"},
    Family{"qwen3 qwen3_vl_text", "Qwen3ForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "qk_norm": "head", "window": "flag"},
      "defaults": {"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "head_dim": 128, "max_position_embeddings": 32768}})"},
    Family{"qwen2_moe", "Qwen2MoeForCausalLM", R"({
      "fixed": {"qkv_bias": "qkv_bias", "window": "flag", "shared_gate": true},
      "defaults": {"qkv_bias": true, "num_experts": 60, "num_experts_per_tok": 4,
        "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632,
        "decoder_sparse_step": 1}})"},
    Family{"qwen3_moe", "Qwen3MoeForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "qk_norm": "head", "window": "flag"},
      "defaults": {"vocab_size": 151936, "num_experts": 128, "num_experts_per_tok": 8,
        "moe_intermediate_size": 768, "decoder_sparse_step": 1}})"},
    Family{"qwen3_vl_moe_text qwen3_omni_moe_text",
           "",
           R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "qk_norm": "head"},
      "defaults": {"vocab_size": 151936, "head_dim": 128, "num_experts": 60,
        "num_experts_per_tok": 4, "moe_intermediate_size": 1408, "decoder_sparse_step": 1}})"},
    Family{"qwen3_next qwen3_5_text qwen3_5_moe_text", "Qwen3NextForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "qk_norm": "head", "output_gate": true, "shared_gate": true, "partial": 0.25,
        "linear_interval": 4},
      "defaults": {"head_dim": 256, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
        "linear_value_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
        "num_key_value_heads": 2, "decoder_sparse_step": 1}})"},
    Family{"mixtral", "MixtralForCausalLM", R"({
      "fixed": {"window": "all"},
      "defaults": {"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "num_local_experts": 8, "num_experts_per_tok": 2}})"},
    Family{"gemma", "GemmaForCausalLM", R"({
      "names": {"hidden_act": "hidden_activation"},
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "embedding_scale": "sqrt", "activation": "gelu_tanh"},
      "defaults": {"vocab_size": 256000, "hidden_size": 3072, "intermediate_size": 24576,
        "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16,
        "head_dim": 256, "hidden_act": "gelu_pytorch_tanh", "tie_word_embeddings": true,
        "max_position_embeddings": 8192}})"},
    Family{"gemma2", "Gemma2ForCausalLM", R"({
      "names": {"hidden_act": "hidden_activation"},
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias", "order": "both",
        "embedding_scale": "sqrt", "window": "alternate"},
      "defaults": {"vocab_size": 256000, "hidden_size": 2304, "intermediate_size": 9216,
        "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
        "head_dim": 256, "hidden_act": "gelu_pytorch_tanh", "tie_word_embeddings": true,
        "sliding_window": 4096, "final_logit_softcapping": 30.0, "attn_logit_softcapping": 50.0,
        "max_position_embeddings": 8192}})"},
    Family{"gemma3_text", "Gemma3ForCausalLM", R"({
      "names": {"hidden_act": "hidden_activation", "sliding_window_pattern":
        "_sliding_window_pattern"},
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias", "order": "both",
        "embedding_scale": "sqrt", "qk_norm": "head", "window": "period"},
      "defaults": {"vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216,
        "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
        "head_dim": 256, "hidden_act": "gelu_pytorch_tanh", "tie_word_embeddings": true,
        "sliding_window": 4096, "sliding_window_pattern": 6, "max_position_embeddings": 131072}})"},
    Family{"gemma4_text", "", R"({
      "names": {"hidden_act": "hidden_activation", "num_experts_per_tok": "top_k_experts"},
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias", "order": "both",
        "embedding_scale": "sqrt", "qk_norm": "head", "value_norm": true, "window": "period",
        "experts_beside_dense": true},
      "defaults": {"vocab_size": 262144, "hidden_size": 2304, "intermediate_size": 9216,
        "num_hidden_layers": 30, "num_attention_heads": 8, "num_key_value_heads": 4,
        "head_dim": 256, "hidden_act": "gelu_pytorch_tanh", "tie_word_embeddings": true,
        "sliding_window": 512, "hidden_size_per_layer_input": 256, "global_head_dim": 512,
        "sliding_window_pattern": 6, "max_position_embeddings": 131072}})"},
    Family{"phi3", "Phi3ForCausalLM", R"({
      "fixed": {"window": "all"},
      "defaults": {"vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192,
        "num_hidden_layers": 32, "num_attention_heads": 32}})"},
    Family{"deepseek", "DeepseekForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias"},
      "defaults": {"moe_layer_freq": 1}})"},
    Family{"deepseek_v2", "DeepseekV2ForCausalLM", R"({
      "fixed": {"latent": true},
      "defaults": {"q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 64,
        "n_shared_experts": 2}})"},
    Family{"deepseek_v3 kimi_k2", "DeepseekV3ForCausalLM", R"({
      "fixed": {"latent": true},
      "defaults": {"vocab_size": 129280, "hidden_size": 7168, "intermediate_size": 18432,
        "moe_intermediate_size": 2048, "num_hidden_layers": 61, "num_attention_heads": 128,
        "n_shared_experts": 1, "n_routed_experts": 256, "q_lora_rank": 1536, "kv_lora_rank": 512,
        "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "num_experts_per_tok": 8, "first_k_dense_replace": 3, "num_nextn_predict_layers": 1}})"},
    Family{"deepseek_v32 glm_moe_dsa", "DeepseekV32ForCausalLM GlmMoeDsaForCausalLM", R"({
      "fixed": {"latent": true, "indexer": true},
      "defaults": {"moe_intermediate_size": 2048, "n_shared_experts": 1, "n_routed_experts": 256,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
        "num_experts_per_tok": 8, "first_k_dense_replace": 3, "index_topk": 2048,
        "index_head_dim": 128}})"},
    Family{"olmo2", "Olmo2ForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias", "order": "post",
        "qk_norm": "width"}})"},
    Family{"olmo3", "Olmo3ForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias", "order": "post",
        "qk_norm": "width", "window": "period"},
      "defaults": {"sliding_window": 4096, "sliding_window_pattern": 4}})"},
    Family{"olmoe", "OlmoeForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "qk_norm": "width"},
      "defaults": {"num_experts": 64, "num_experts_per_tok": 8}})"},
    Family{"gpt_oss", "GptOssForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias", "sinks": true,
        "router_bias": true, "expert_bias": true, "window": "alternate"},
      "defaults": {"attention_bias": true, "num_local_experts": 128, "num_experts_per_tok": 4,
        "head_dim": 64, "num_key_value_heads": 8, "sliding_window": 128}})"},
    Family{"granite granitemoe granitemoeshared", "GraniteForCausalLM GraniteMoeForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias"}})"},
    Family{"bamba", "BambaForCausalLM", R"({
      "names": {"mamba_num_heads": "mamba_n_heads", "mamba_head_dim": "mamba_d_head",
        "n_groups": "mamba_n_groups", "ssm_state_size": "mamba_d_state",
        "conv_kernel": "mamba_d_conv", "use_conv_bias": "mamba_conv_bias",
        "use_bias": "mamba_proj_bias"},
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias", "partial": 0.5, "recurrent_unless_listed": true},
      "defaults": {"vocab_size": 128000, "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "max_position_embeddings": 262144, "mamba_num_heads": 128,
        "mamba_head_dim": 64, "n_groups": 1, "ssm_state_size": 256, "conv_kernel": 4,
        "use_conv_bias": true}})"},
    Family{"granitemoehybrid", "GraniteMoeHybridForCausalLM", R"({
      "names": {"mamba_num_heads": "mamba_n_heads", "mamba_head_dim": "mamba_d_head",
        "n_groups": "mamba_n_groups", "ssm_state_size": "mamba_d_state",
        "conv_kernel": "mamba_d_conv", "use_conv_bias": "mamba_conv_bias",
        "use_bias": "mamba_proj_bias", "layer_types": "layers_block_type"},
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias", "rotary": "position_embedding_type"},
      "defaults": {"mamba_num_heads": 128, "mamba_head_dim": 64, "n_groups": 1,
        "ssm_state_size": 256, "conv_kernel": 4, "use_conv_bias": true}})"},
    Family{"minimax_m2", "MiniMaxM2ForCausalLM", R"({
      "fixed": {"qk_norm": "width"},
      "defaults": {"num_local_experts": 256, "num_experts_per_tok": 8, "head_dim": 128}})"},
    Family{"minimax_m1 minimax minimax_text_01", "MiniMaxM1ForCausalLM", R"({
      "fixed": {"lightning": true, "order": "from_normed"},
      "defaults": {"head_dim": 128, "num_local_experts": 32, "num_experts_per_tok": 2}})"},
    Family{"mimo_v2_flash", "MiMoV2FlashForCausalLM", R"({
      "defaults": {"head_dim": 192, "v_head_dim": 128, "num_key_value_heads": 4,
        "n_routed_experts": 256, "num_experts_per_tok": 8, "sliding_window": 128}})"},
    Family{"laguna", "LagunaForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "qk_norm": "head", "window": "none"},
      "defaults": {"head_dim": 128, "num_experts": 256, "num_experts_per_tok": 8,
        "gating": true}})"},
    Family{"llama4_text", "Llama4ForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "nope": "interval", "shared_as_experts": true},
      "defaults": {"vocab_size": 202048, "hidden_size": 5120, "intermediate_size": 8192,
        "intermediate_size_mlp": 16384, "num_hidden_layers": 48, "num_attention_heads": 40,
        "num_key_value_heads": 8, "head_dim": 128, "num_local_experts": 16,
        "num_experts_per_tok": 1, "interleave_moe_layer_step": 1, "no_rope_layer_interval": 4,
        "attention_chunk_size": 8192, "use_qk_norm": true, "max_position_embeddings": 131072},
      "names": {"no_rope_layer_interval": "nope_layer_interval"}})"},
    Family{"mllama_text_model", "", R"({
      "fixed": {"cross_layers": true},
      "defaults": {"vocab_size": 128256, "hidden_size": 4096, "num_hidden_layers": 40,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
        "max_position_embeddings": 131072}})"},
    Family{"glm", "GlmForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "partial": 0.5},
      "defaults": {"attention_bias": true, "head_dim": 128, "num_key_value_heads": 2}})"},
    Family{"glm4", "Glm4ForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "partial": 0.5, "order": "both"},
      "defaults": {"attention_bias": true, "head_dim": 128, "num_key_value_heads": 2}})"},
    Family{"glm4_moe", "Glm4MoeForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "partial": 0.5},
      "defaults": {"num_key_value_heads": 8, "n_routed_experts": 128,
        "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1}})"},
    Family{"dots1", "Dots1ForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "qk_norm": "head", "window": "flag"}})"},
    Family{"exaone4", "Exaone4ForCausalLM", R"({
      "fixed": {"qk_norm": "head", "order": "post", "window": "period", "nope": "full"},
      "defaults": {"sliding_window": 4096, "sliding_window_pattern": 4}})"},
    Family{"smollm3", "SmolLM3ForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias", "window": "flag", "nope": "interval"},
      "defaults": {"no_rope_layer_interval": 4, "tie_word_embeddings": true}})"},
    Family{"seed_oss", "SeedOssForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_out_bias",
        "mlp_bias": "mlp_bias"},
      "defaults": {"attention_bias": true, "head_dim": 128}})"},
    Family{"ernie4_5", "Ernie4_5ForCausalLM", R"({
      "fixed": {"qkv_bias": "use_bias", "output_bias": "use_bias", "mlp_bias": "use_bias"},
      "defaults": {"head_dim": 128, "tie_word_embeddings": true}})"},
    Family{"hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM", R"({
      "fixed": {"dense_only": true, "qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "qk_norm": "head"}})"},
    Family{"helium", "HeliumForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "mlp_bias": "mlp_bias"},
      "defaults": {"head_dim": 128}})"},
    Family{"arcee", "ArceeForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias", "gated": false},
      "defaults": {"hidden_act": "relu2"}})"},
    Family{"internlm2", "InternLM2ForCausalLM", R"({
      "fixed": {"qkv_bias": "bias", "output_bias": "bias"}})"},
    Family{"xverse", "XverseForCausalLM", "{}"},
    Family{"exaone", "ExaoneForCausalLM", R"({
      "names": {"num_hidden_layers": "num_layers", "hidden_act": "activation_function"}})"},
    Family{"qwen", "QWenLMHeadModel", R"({
      "names": {"head_dim": "kv_channels"},
      "fixed": {"qkv_bias": true, "halved_width": true, "output_bias": "biased",
        "mlp_bias": "biased"}})"},
    Family{"chatglm", "ChatGLMModel ChatGLMForConditionalGeneration", R"({
      "names": {"num_hidden_layers": "num_layers", "intermediate_size": "ffn_hidden_size",
        "num_key_value_heads": "multi_query_group_num", "head_dim": "kv_channels",
        "vocab_size": "padded_vocab_size", "max_position_embeddings": "seq_length"},
      "fixed": {"qkv_bias": "add_qkv_bias", "output_bias": "add_bias_linear",
        "mlp_bias": "add_bias_linear", "partial": 0.5, "head": "logits"}})"},
    Family{"nemotron-nas", "DeciLMForCausalLM", R"({
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias", "blocks": true}})"},
};

}  // namespace

std::span<const Family> llama_families() {
  return kFamilies;
}

}  // namespace orrery::frontend
