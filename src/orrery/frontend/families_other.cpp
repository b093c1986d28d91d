// Families with layer norms, recurrences, and encoders.
// SPDX-License-Identifier: Apache-2.0
//
// Source: transformers 5.24, models/*/configuration_*.py (defaults) and modeling_*.py (the rest).
#include <array>

#include "orrery/frontend/families_internal.h"

namespace orrery::frontend {

namespace {

constexpr std::array kFamilies = {
    Family{"gpt2", "GPT2LMHeadModel", R"({
      "names": {"hidden_size": "n_embd", "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head", "max_position_embeddings": "n_positions",
        "intermediate_size": "n_inner", "hidden_act": "activation_function"},
      "fixed": {"norm": "layer", "qkv_bias": true, "output_bias": true, "mlp_bias": true,
        "gated": false, "rotary": false, "positions": 0, "mlp_ratio": 4},
      "defaults": {"vocab_size": 50257, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "max_position_embeddings": 1024, "hidden_act": "gelu_new",
        "tie_word_embeddings": true}})"},
    Family{"gpt_bigcode", "GPTBigCodeForCausalLM", R"({
      "names": {"hidden_size": "n_embd", "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head", "max_position_embeddings": "n_positions",
        "intermediate_size": "n_inner", "hidden_act": "activation_function"},
      "fixed": {"norm": "layer", "qkv_bias": true, "output_bias": true, "mlp_bias": true,
        "gated": false, "rotary": false, "positions": 0, "mlp_ratio": 4},
      "defaults": {"hidden_act": "gelu_pytorch_tanh", "multi_query": true,
        "tie_word_embeddings": true}})"},
    Family{"gpt_neo", "GPTNeoForCausalLM", R"({
      "names": {"num_hidden_layers": "num_layers", "num_attention_heads": "num_heads",
        "hidden_act": "activation_function", "sliding_window": "window_size"},
      "fixed": {"norm": "layer", "output_bias": true, "mlp_bias": true, "gated": false,
        "rotary": false, "positions": 0, "mlp_ratio": 4},
      "defaults": {"hidden_act": "gelu_new", "tie_word_embeddings": true}})"},
    Family{"gpt_neox", "GPTNeoXForCausalLM", R"({
      "fixed": {"norm": "layer", "qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": true, "gated": false, "parallel": "use_parallel_residual",
        "one_norm": false, "partial": 0.25},
      "defaults": {"attention_bias": true, "use_parallel_residual": true, "hidden_act": "gelu"}})"},
    Family{"gptj", "GPTJForCausalLM", R"({
      "names": {"hidden_size": "n_embd", "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head", "max_position_embeddings": "n_positions",
        "intermediate_size": "n_inner", "hidden_act": "activation_function"},
      "fixed": {"norm": "layer", "mlp_bias": true, "gated": false, "parallel": true,
        "head_bias": true, "mlp_ratio": 4},
      "defaults": {"rotary_dim": 64, "hidden_act": "gelu_new"}})"},
    Family{"codegen", "CodeGenForCausalLM", R"({
      "names": {"hidden_size": "n_embd", "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head", "max_position_embeddings": "n_positions",
        "intermediate_size": "n_inner", "hidden_act": "activation_function"},
      "fixed": {"norm": "layer", "mlp_bias": true, "gated": false, "parallel": true,
        "head_bias": true, "mlp_ratio": 4},
      "defaults": {"rotary_dim": 64, "hidden_act": "gelu_new"}})"},
    Family{"phi", "PhiForCausalLM", R"({
      "fixed": {"norm": "layer", "qkv_bias": true, "output_bias": true, "mlp_bias": true,
        "gated": false, "parallel": true, "head_bias": true, "partial": 0.5},
      "defaults": {"hidden_act": "gelu_new"}})"},
    Family{"opt", "OPTForCausalLM", R"({
      "names": {"intermediate_size": "ffn_dim", "hidden_act": "activation_function",
        "embedding_size": "word_embed_proj_dim"},
      "fixed": {"norm": "layer", "qkv_bias": "enable_bias", "output_bias": "enable_bias",
        "mlp_bias": "enable_bias", "gated": false, "rotary": false, "positions": 2,
        "pre_norm": "do_layer_norm_before"},
      "defaults": {"vocab_size": 50272, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 2048,
        "hidden_act": "relu", "enable_bias": true, "do_layer_norm_before": true,
        "tie_word_embeddings": true}})"},
    Family{"bloom", "BloomForCausalLM", R"({
      "names": {"num_hidden_layers": "n_layer", "num_attention_heads": "n_head",
        "hidden_size": "n_embed"},
      "fixed": {"norm": "layer", "qkv_bias": true, "output_bias": true, "mlp_bias": true,
        "gated": false, "rotary": false, "alibi": true, "embedding_norm": true, "mlp_ratio": 4},
      "defaults": {"hidden_act": "gelu_tanh", "tie_word_embeddings": true}})"},
    Family{"mpt", "MPTForCausalLM MptForCausalLM", R"({
      "names": {"hidden_size": "d_model", "num_hidden_layers": "n_layers",
        "num_attention_heads": "n_heads", "max_position_embeddings": "max_seq_len"},
      "fixed": {"norm": "layer_no_bias", "gated": false, "rotary": false, "alibi": true,
        "mlp_ratio": 4},
      "defaults": {"hidden_act": "gelu", "tie_word_embeddings": true, "no_bias": true}})"},
    Family{"dbrx", "DbrxForCausalLM", R"({
      "names": {"hidden_size": "d_model", "num_hidden_layers": "n_layers",
        "num_attention_heads": "n_heads", "max_position_embeddings": "max_seq_len"},
      "fixed": {"norm": "layer_no_bias"}})"},
    Family{"falcon RefinedWeb RefinedWebModel", "FalconForCausalLM RWForCausalLM", R"({
      "names": {"num_hidden_layers": "n_layer", "num_attention_heads": "n_head",
        "num_key_value_heads": "num_kv_heads", "hidden_act": "activation",
        "intermediate_size": "ffn_hidden_size"},
      "fixed": {"norm": "layer", "qkv_bias": "bias", "output_bias": "bias", "mlp_bias": "bias",
        "gated": false, "parallel": "parallel_attn", "mlp_ratio": 4, "falcon": true},
      "defaults": {"parallel_attn": true, "multi_query": true, "hidden_act": "gelu",
        "tie_word_embeddings": true}})"},
    Family{"starcoder2", "Starcoder2ForCausalLM", R"({
      "fixed": {"norm": "layer", "qkv_bias": "use_bias", "output_bias": "use_bias",
        "mlp_bias": "use_bias", "gated": false, "window": "all"},
      "defaults": {"use_bias": true, "hidden_act": "gelu_pytorch_tanh", "num_key_value_heads": 2,
        "tie_word_embeddings": true}})"},
    Family{"stablelm stablelm_epoch", "StableLmForCausalLM StableLMEpochForCausalLM", R"({
      "fixed": {"norm": "layer", "qkv_bias": "use_qkv_bias", "partial": 0.25,
        "parallel": "use_parallel_residual"}})"},
    Family{"cohere", "CohereForCausalLM", R"({
      "fixed": {"norm": "layer_no_bias", "parallel": true, "qkv_bias": "attention_bias",
        "output_bias": "attention_bias"},
      "defaults": {"vocab_size": 256000, "tie_word_embeddings": true, "logit_scale": 0.0625}})"},
    Family{"cohere2", "Cohere2ForCausalLM", R"({
      "fixed": {"norm": "layer_no_bias", "parallel": true, "qkv_bias": "attention_bias",
        "output_bias": "attention_bias", "window": "period", "nope": "full"},
      "defaults": {"vocab_size": 256000, "tie_word_embeddings": true, "logit_scale": 0.0625,
        "sliding_window": 4096, "sliding_window_pattern": 4, "head_dim": 128}})"},
    Family{"olmo", "OlmoForCausalLM OLMoForCausalLM", R"({
      "fixed": {"norm": "layer_no_weight", "qkv_bias": "attention_bias",
        "output_bias": "attention_bias"}})"},
    Family{"nemotron", "NemotronForCausalLM", R"({
      "fixed": {"norm": "layer", "qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias", "gated": false, "partial": 0.5},
      "defaults": {"hidden_act": "relu2"}})"},
    Family{"phimoe", "PhiMoEForCausalLM PhimoeForCausalLM", R"({
      "fixed": {"norm": "layer", "qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "window": "all", "head_bias": "lm_head_bias"},
      "defaults": {"num_local_experts": 16, "num_experts_per_tok": 2}})"},
    Family{"nemotron_h", "NemotronHForCausalLM", R"({
      "names": {"hidden_act": "mlp_hidden_act", "use_bias": "mamba_proj_bias",
        "hybrid_override_pattern": "layers_block_type"},
      "fixed": {"qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias", "gated": false, "rotary": false, "pattern": true},
      "defaults": {"hidden_act": "relu2", "mamba_num_heads": 128, "mamba_head_dim": 64,
        "n_groups": 8, "ssm_state_size": 128, "conv_kernel": 4, "use_conv_bias": true,
        "head_dim": 128}})"},
    Family{"falcon_mamba mamba", "FalconMambaForCausalLM MambaForCausalLM", R"({
      "fixed": {"recurrence": "mamba1"},
      "defaults": {"state_size": 16, "conv_kernel": 4, "use_conv_bias": true,
        "tie_word_embeddings": true, "layer_norm_epsilon": 1e-5}})"},
    Family{"mamba2", "Mamba2ForCausalLM", R"({
      "names": {"mamba_num_heads": "num_heads", "mamba_head_dim": "head_dim",
        "ssm_state_size": "state_size"},
      "fixed": {"recurrence": "mamba2"},
      "defaults": {"expand": 2, "mamba_num_heads": 128, "mamba_head_dim": 64, "n_groups": 8,
        "ssm_state_size": 128, "conv_kernel": 4, "use_conv_bias": true}})"},
    Family{"bert", "BertModel BertForMaskedLM", R"({
      "fixed": {"encoder": true, "norm": "layer", "order": "after", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false, "positions": 0,
        "types": true, "embedding_norm": true, "final_norm": false, "pooler": true},
      "defaults": {"vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 512,
        "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
        "tie_word_embeddings": true}})"},
    Family{"roberta", "RobertaModel RobertaForMaskedLM", R"({
      "fixed": {"encoder": true, "norm": "layer", "order": "after", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false, "positions": 0,
        "types": true, "embedding_norm": true, "final_norm": false, "pooler": true},
      "defaults": {"vocab_size": 50265, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 512,
        "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
        "tie_word_embeddings": true}})"},
    Family{"distilbert", "DistilBertModel DistilBertForMaskedLM", R"({
      "names": {"hidden_size": "dim", "num_attention_heads": "n_heads",
        "num_hidden_layers": "n_layers", "intermediate_size": "hidden_dim",
        "hidden_act": "activation"},
      "fixed": {"encoder": true, "norm": "layer", "order": "after", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false, "positions": 0,
        "embedding_norm": true, "final_norm": false},
      "defaults": {"hidden_act": "gelu", "layer_norm_eps": 1e-12,
        "max_position_embeddings": 512, "tie_word_embeddings": true}})"},
    Family{"albert", "AlbertModel AlbertForMaskedLM", R"({
      "fixed": {"encoder": true, "norm": "layer", "order": "after", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false, "positions": 0,
        "types": true, "embedding_norm": true, "final_norm": false, "pooler": true,
        "shared_layers": true},
      "defaults": {"vocab_size": 30000, "embedding_size": 128, "max_position_embeddings": 512,
        "type_vocab_size": 2, "hidden_act": "gelu_new", "layer_norm_eps": 1e-12,
        "num_hidden_groups": 1, "inner_group_num": 1, "tie_word_embeddings": true}})"},
    Family{"vit", "ViTModel ViTForImageClassification", R"({
      "fixed": {"encoder": true, "norm": "layer", "qkv_bias": "qkv_bias", "output_bias": true,
        "mlp_bias": true, "gated": false, "rotary": false, "image": true},
      "defaults": {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
        "image_size": 224, "patch_size": 16, "num_channels": 3, "qkv_bias": true}})"},
    Family{"t5", "T5ForConditionalGeneration", R"({
      "names": {"hidden_size": "d_model", "num_hidden_layers": "num_layers",
        "num_attention_heads": "num_heads", "head_dim": "d_kv", "intermediate_size": "d_ff",
        "max_position_embeddings": "n_positions"},
      "fixed": {"encoder_decoder": "text", "rotary": false, "alibi": true},
      "defaults": {"vocab_size": 32128, "hidden_size": 512, "head_dim": 64,
        "intermediate_size": 2048, "num_hidden_layers": 6, "num_attention_heads": 8,
        "feed_forward_proj": "relu", "tie_word_embeddings": true, "layer_norm_epsilon": 1e-6}})"},
    Family{"whisper", "WhisperForConditionalGeneration", R"({
      "names": {"hidden_size": "d_model", "num_hidden_layers": "decoder_layers",
        "num_attention_heads": "decoder_attention_heads", "intermediate_size": "decoder_ffn_dim",
        "max_position_embeddings": "max_target_positions", "hidden_act": "activation_function"},
      "fixed": {"encoder_decoder": "sound", "norm": "layer", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false, "positions": 0},
      "defaults": {"vocab_size": 51865, "num_mel_bins": 80, "hidden_act": "gelu",
        "max_source_positions": 1500, "max_position_embeddings": 448,
        "tie_word_embeddings": true}})"},
};

}  // namespace

std::span<const Family> other_families() {
  return kFamilies;
}

}  // namespace orrery::frontend
