// Families of encoders and of encoder-decoders of text, after those of families_other.cpp.
// SPDX-License-Identifier: Apache-2.0
//
// Source: transformers 5.24, models/*/configuration_*.py (defaults) and modeling_*.py (the rest);
// new: configuration.py and modeling.py of Alibaba-NLP/new-impl.
#include <array>

#include "orrery/frontend/families_internal.h"

namespace orrery::frontend {

namespace {

constexpr std::array kFamilies = {
    Family{"xlm-roberta camembert data2vec-text ernie",
           "XLMRobertaModel XLMRobertaForMaskedLM",
           R"({
      "fixed": {"encoder": true, "norm": "layer", "order": "after", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false, "positions": 0,
        "types": true, "embedding_norm": true, "final_norm": false, "pooler": true},
      "defaults": {"vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 512,
        "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
        "tie_word_embeddings": true}})"},
    Family{"roberta-prelayernorm", "RobertaPreLayerNormForMaskedLM", R"({
      "fixed": {"encoder": true, "norm": "layer", "qkv_bias": true, "output_bias": true,
        "mlp_bias": true, "gated": false, "rotary": false, "positions": 0, "types": true,
        "embedding_norm": true, "pooler": true},
      "defaults": {"vocab_size": 50265, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 512,
        "type_vocab_size": 2, "hidden_act": "gelu", "tie_word_embeddings": true}})"},
    Family{"xlm-roberta-xl", "XLMRobertaXLForMaskedLM", R"({
      "fixed": {"encoder": true, "norm": "layer", "qkv_bias": true, "output_bias": true,
        "mlp_bias": true, "gated": false, "rotary": false, "positions": 0, "types": true,
        "pooler": true},
      "defaults": {"vocab_size": 250880, "hidden_size": 2560, "num_hidden_layers": 36,
        "num_attention_heads": 32, "intermediate_size": 10240, "max_position_embeddings": 514,
        "type_vocab_size": 1, "hidden_act": "gelu", "tie_word_embeddings": true}})"},
    Family{"megatron-bert", "MegatronBertForMaskedLM", R"({
      "fixed": {"encoder": true, "norm": "layer", "qkv_bias": true, "output_bias": true,
        "mlp_bias": true, "gated": false, "rotary": false, "positions": 0, "types": true,
        "pooler": true},
      "defaults": {"vocab_size": 29056, "hidden_size": 1024, "num_hidden_layers": 24,
        "num_attention_heads": 16, "intermediate_size": 4096, "max_position_embeddings": 512,
        "type_vocab_size": 2, "hidden_act": "gelu", "tie_word_embeddings": true}})"},
    Family{"electra", "ElectraModel ElectraForMaskedLM", R"({
      "fixed": {"encoder": true, "norm": "layer", "order": "after", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false, "positions": 0,
        "types": true, "embedding_norm": true, "final_norm": false, "discriminator": true},
      "defaults": {"vocab_size": 30522, "embedding_size": 128, "hidden_size": 256,
        "num_hidden_layers": 12, "num_attention_heads": 4, "intermediate_size": 1024,
        "max_position_embeddings": 512, "type_vocab_size": 2, "hidden_act": "gelu",
        "tie_word_embeddings": true}})"},
    Family{"mpnet", "MPNetModel MPNetForMaskedLM", R"({
      "fixed": {"encoder": true, "norm": "layer", "order": "after", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false, "alibi": true,
        "positions": 0, "embedding_norm": true, "final_norm": false, "pooler": true},
      "defaults": {"vocab_size": 30527, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 512,
        "hidden_act": "gelu", "tie_word_embeddings": true}})"},
    Family{"modernbert", "ModernBertModel ModernBertForMaskedLM", R"({
      "names": {"hidden_act": "hidden_activation", "sliding_window": "local_attention",
        "sliding_window_pattern": "global_attn_every_n_layers"},
      "fixed": {"encoder": true, "norm": "layer_no_bias", "qkv_bias": "attention_bias",
        "output_bias": "attention_bias", "mlp_bias": "mlp_bias", "embedding_norm": true,
        "window": "first_full"},
      "defaults": {"vocab_size": 50368, "hidden_size": 768, "num_hidden_layers": 22,
        "num_attention_heads": 12, "intermediate_size": 1152, "max_position_embeddings": 8192,
        "hidden_act": "gelu", "sliding_window": 128, "sliding_window_pattern": 3,
        "tie_word_embeddings": true}})"},
    Family{"eurobert", "EuroBertModel EuroBertForMaskedLM", R"({
      "fixed": {"encoder": true, "qkv_bias": "attention_bias", "output_bias": "attention_bias",
        "mlp_bias": "mlp_bias", "plain_head": true},
      "defaults": {"vocab_size": 128256, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072,
        "max_position_embeddings": 8192}})"},
    Family{"nomic_bert", "NomicBertModel NomicBertForMaskedLM", R"({
      "names": {"hidden_size": "n_embd", "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head", "intermediate_size": "n_inner",
        "max_position_embeddings": "n_positions", "hidden_act": "activation_function",
        "partial_rotary_factor": "rotary_emb_fraction"},
      "fixed": {"encoder": true, "norm": "layer", "order": "after", "qkv_bias": "qkv_proj_bias",
        "output_bias": "qkv_proj_bias", "mlp_bias": "mlp_fc1_bias", "types": true,
        "embedding_norm": true, "final_norm": false, "glu_names": true},
      "defaults": {"vocab_size": 30528, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 2048,
        "type_vocab_size": 2, "hidden_act": "silu", "tie_word_embeddings": true}})"},
    Family{"gte new", "GteModel GteForMaskedLM NewModel NewForMaskedLM", R"({
      "fixed": {"encoder": true, "norm": "layer", "order": "after", "qkv_bias": true,
        "output_bias": true, "types": true, "embedding_norm": true, "final_norm": false,
        "positions_kind": "rope"},
      "defaults": {"vocab_size": 250048, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 8192,
        "type_vocab_size": 1, "hidden_act": "gelu", "tie_word_embeddings": true}})"},
    Family{"clip_text_model", "", R"({
      "fixed": {"encoder": true, "causal": true, "norm": "layer", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false, "positions": 0,
        "projected": "projection_dim"},
      "defaults": {"vocab_size": 49408, "hidden_size": 512, "intermediate_size": 2048,
        "num_hidden_layers": 12, "num_attention_heads": 8, "max_position_embeddings": 77,
        "hidden_act": "quick_gelu", "projection_dim": 512}})"},
    Family{"siglip_text_model", "", R"({
      "fixed": {"encoder": true, "norm": "layer", "qkv_bias": true, "output_bias": true,
        "mlp_bias": true, "gated": false, "rotary": false, "positions": 0,
        "projected": "projection_size", "projected_bias": true},
      "defaults": {"vocab_size": 32000, "hidden_size": 768, "intermediate_size": 3072,
        "num_hidden_layers": 12, "num_attention_heads": 12, "max_position_embeddings": 64,
        "hidden_act": "gelu_pytorch_tanh"}})"},
    Family{"esm", "EsmModel EsmForMaskedLM", R"({
      "fixed": {"encoder": true, "norm": "layer", "qkv_bias": true, "output_bias": true,
        "mlp_bias": true, "gated": false, "positions_kind": "rotary", "pooler": true,
        "activation": "gelu"},
      "defaults": {"tie_word_embeddings": true, "max_position_embeddings": 1026}})"},
    Family{"mt5", "MT5ForConditionalGeneration", R"({
      "names": {"hidden_size": "d_model", "num_hidden_layers": "num_layers",
        "num_attention_heads": "num_heads", "head_dim": "d_kv", "intermediate_size": "d_ff",
        "max_position_embeddings": "n_positions"},
      "fixed": {"encoder_decoder": "text", "rotary": false, "alibi": true},
      "defaults": {"vocab_size": 250112, "hidden_size": 512, "head_dim": 64,
        "intermediate_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 6,
        "feed_forward_proj": "gated-gelu", "tie_word_embeddings": true,
        "layer_norm_epsilon": 1e-6}})"},
    Family{"umt5", "UMT5ForConditionalGeneration", R"({
      "names": {"hidden_size": "d_model", "num_hidden_layers": "num_layers",
        "num_attention_heads": "num_heads", "head_dim": "d_kv", "intermediate_size": "d_ff",
        "max_position_embeddings": "n_positions"},
      "fixed": {"encoder_decoder": "text", "rotary": false, "alibi": true},
      "defaults": {"vocab_size": 250112, "hidden_size": 512, "head_dim": 64,
        "intermediate_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 6,
        "feed_forward_proj": "gated-gelu", "tie_word_embeddings": true,
        "layer_norm_epsilon": 1e-6}})"},
    Family{"bart", "BartForConditionalGeneration BartModel", R"({
      "names": {"hidden_size": "d_model", "num_hidden_layers": "decoder_layers",
        "num_attention_heads": "decoder_attention_heads", "intermediate_size": "decoder_ffn_dim",
        "hidden_act": "activation_function"},
      "fixed": {"encoder_decoder": "both", "norm": "layer", "order": "after", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false, "positions": 2,
        "embedding_norm": true, "final_norm": false, "scaled_embedding": true},
      "defaults": {"vocab_size": 50265, "hidden_size": 1024, "intermediate_size": 4096,
        "num_hidden_layers": 12, "num_attention_heads": 16, "max_position_embeddings": 1024,
        "hidden_act": "gelu", "tie_word_embeddings": true}})"},
    Family{"mbart", "MBartForConditionalGeneration MBartModel", R"({
      "names": {"hidden_size": "d_model", "num_hidden_layers": "decoder_layers",
        "num_attention_heads": "decoder_attention_heads", "intermediate_size": "decoder_ffn_dim",
        "hidden_act": "activation_function"},
      "fixed": {"encoder_decoder": "both", "norm": "layer", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false, "positions": 2,
        "embedding_norm": true, "scaled_embedding": true},
      "defaults": {"vocab_size": 50265, "hidden_size": 1024, "intermediate_size": 4096,
        "num_hidden_layers": 12, "num_attention_heads": 16, "max_position_embeddings": 1024,
        "hidden_act": "gelu", "tie_word_embeddings": true}})"},
    Family{"pegasus", "PegasusForConditionalGeneration PegasusModel", R"({
      "names": {"hidden_size": "d_model", "num_hidden_layers": "decoder_layers",
        "num_attention_heads": "decoder_attention_heads", "intermediate_size": "decoder_ffn_dim",
        "hidden_act": "activation_function"},
      "fixed": {"encoder_decoder": "both", "norm": "layer", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false,
        "positions": 0, "scaled_embedding": true},
      "defaults": {"vocab_size": 50265, "hidden_size": 1024, "intermediate_size": 4096,
        "num_hidden_layers": 12, "num_attention_heads": 16, "max_position_embeddings": 1024,
        "hidden_act": "gelu", "tie_word_embeddings": true}})"},
    Family{"marian", "MarianMTModel MarianModel", R"({
      "names": {"hidden_size": "d_model", "num_hidden_layers": "decoder_layers",
        "num_attention_heads": "decoder_attention_heads", "intermediate_size": "decoder_ffn_dim",
        "hidden_act": "activation_function"},
      "fixed": {"encoder_decoder": "both", "norm": "layer", "order": "after", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false,
        "positions": 0, "final_norm": false, "scaled_embedding": true,
        "head": "logits"},
      "defaults": {"vocab_size": 58101, "hidden_size": 1024, "intermediate_size": 4096,
        "num_hidden_layers": 12, "num_attention_heads": 16, "max_position_embeddings": 1024,
        "hidden_act": "gelu", "tie_word_embeddings": true}})"},
    Family{"m2m_100", "M2M100ForConditionalGeneration M2M100Model", R"({
      "names": {"hidden_size": "d_model", "num_hidden_layers": "decoder_layers",
        "num_attention_heads": "decoder_attention_heads", "intermediate_size": "decoder_ffn_dim",
        "hidden_act": "activation_function"},
      "fixed": {"encoder_decoder": "both", "norm": "layer", "qkv_bias": true,
        "output_bias": true, "mlp_bias": true, "gated": false, "rotary": false,
        "fixed_positions": true, "scaled_embedding": true},
      "defaults": {"vocab_size": 128112, "hidden_size": 1024, "intermediate_size": 4096,
        "num_hidden_layers": 12, "num_attention_heads": 16, "max_position_embeddings": 1024,
        "hidden_act": "relu", "scale_embedding": true, "tie_word_embeddings": true}})"},
};

}  // namespace

std::span<const Family> encoder_families() {
  return kFamilies;
}

}  // namespace orrery::frontend
