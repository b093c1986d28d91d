// Frontends: config.json, lists of decoders, the decoder's graph.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "orrery/frontend/decoder.h"
#include "orrery/frontend/decoder_list.h"
#include "orrery/frontend/huggingface.h"
#include "orrery/frontend/json.h"
#include "orrery/graph/print.h"

namespace orrery::frontend {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kLlama = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4,
  "num_key_value_heads": 2, "num_hidden_layers": 3, "vocab_size": 1000,
  "rms_norm_eps": 1e-05, "hidden_act": "silu", "torch_dtype": "bfloat16",
  "rope_scaling": {"rope_type": "llama3", "factor": 8.0}, "attention_bias": false
})";

std::string with(std::string_view from, std::string_view to) {
  std::string text(kLlama);
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string complaint(const std::string& json) {
  const Result<Decoder> decoder = read_huggingface(json, "test");
  return decoder.ok() ? "" : decoder.error().message;
}

TEST(Huggingface, ReadsSizes) {
  const Result<Decoder> decoder = read_huggingface(kLlama, "test");
  ASSERT_TRUE(decoder.ok()) << decoder.error().to_string();
  EXPECT_EQ(decoder->hidden, 64);
  EXPECT_EQ(decoder->head_dim, 16);  // hidden / heads, as none is given
  EXPECT_EQ(decoder->kv_heads, 2);
  EXPECT_EQ(decoder->dtype, DType::BF16);
  EXPECT_FALSE(decoder->qkv_bias);
}

TEST(Huggingface, ArchitecturesDifferInBiasAndNorm) {
  const auto qwen2 = read_huggingface(with("LlamaForCausalLM", "Qwen2ForCausalLM"), "q2");
  ASSERT_TRUE(qwen2.ok()) << qwen2.error().to_string();
  EXPECT_TRUE(qwen2->qkv_bias);
  EXPECT_FALSE(qwen2->output_bias);
  const auto qwen3 = read_huggingface(with("LlamaForCausalLM", "Qwen3ForCausalLM"), "q3");
  ASSERT_TRUE(qwen3.ok()) << qwen3.error().to_string();
  EXPECT_TRUE(qwen3->qk_norm);
  EXPECT_FALSE(qwen3->qkv_bias);
}

TEST(Huggingface, KeyThatChangesTheArithmeticIsNamed) {
  const std::string added =
      with("\"model_type\"", "\"final_logit_softcapping\": 30.0, \"model_type\"");
  EXPECT_EQ(complaint(added),
            "[frontend.huggingface] test: final_logit_softcapping: not understood, and it may "
            "change what is computed (got 30)");
  EXPECT_THAT(complaint(with("\"silu\"", "\"gelu\"")), HasSubstr("hidden_act: got \"gelu\""));
  EXPECT_THAT(complaint(with("llama3", "longrope")), HasSubstr("rope_scaling: got \"longrope\""));
  EXPECT_THAT(complaint(with("\"model_type\"", "\"quantization_config\": {}, \"model_type\"")),
              HasSubstr("quantization_config: not understood"));
}

TEST(Huggingface, SlidingWindowIsReadOrRefused) {
  const std::string mistral =
      with("LlamaForCausalLM\"]", "MistralForCausalLM\"], \"sliding_window\": 4096");
  EXPECT_EQ(read_huggingface(mistral, "m")->window, 4096);
  const std::string off = with("LlamaForCausalLM\"]",
                               "Qwen2ForCausalLM\"], \"sliding_window\": 4096, "
                               "\"use_sliding_window\": false");
  EXPECT_EQ(read_huggingface(off, "q")->window, 0);
  const std::string on = with("LlamaForCausalLM\"]",
                              "Qwen2ForCausalLM\"], \"sliding_window\": 4096, "
                              "\"use_sliding_window\": true");
  EXPECT_THAT(complaint(on), HasSubstr("use_sliding_window: got 4096, need false"));
}

TEST(Huggingface, UnknownArchitectureListsTheKnown) {
  EXPECT_EQ(complaint(with("LlamaForCausalLM", "MambaForCausalLM")),
            "[frontend.huggingface] test: architecture: got 'MambaForCausalLM', need one of "
            "LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM");
}

TEST(Huggingface, AllWrongValuesAreListed) {
  std::string bad = with("\"hidden_size\": 64", "\"hidden_size\": \"64\"");
  bad.replace(bad.find("\"vocab_size\": 1000"), 18, "\"vocab_size\": -1");
  EXPECT_EQ(complaint(bad),
            "[frontend.huggingface] test: hidden_size: got \"64\", need a positive integer; "
            "vocab_size: got -1, need a positive integer");
}

TEST(Json, BadTextSaysWhere) {
  EXPECT_EQ(parse_json("{\n  \"a\": Infinity}", "f").error().message,
            "[frontend.json] f: line 2, column 8: this is not JSON");
  const std::string deep(100, '[');
  EXPECT_THAT(parse_json(deep, "f").error().message, HasSubstr("more than 64 nested levels"));
  EXPECT_FALSE(parse_json("", "f").ok());
}

TEST(Json, KeepsOrder) {
  const Result<Json> json = parse_json(R"({"b": 1, "a": [true, null, 2.5]})", "f");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->members[0].key, "b");
  EXPECT_EQ(json->find("b")->integer, 1);
  EXPECT_EQ(json->find("a")->items[2].decimal, 2.5);
  EXPECT_EQ(json->find("c"), nullptr);
}

TEST(DecoderList, NameWithLayersIsCut) {
  constexpr std::string_view kList = R"({"models": {"m-7b": {"hidden": 64, "intermediate": 128,
    "heads": 4, "kv_heads": 2, "head_dim": 16, "vocab": 100, "layers": 32}}})";
  const auto list = read_decoder_list(kList, "models.json");
  ASSERT_TRUE(list.ok()) << list.error().to_string();
  EXPECT_EQ(find_decoder(*list, "m-7b")->layers, 32);
  EXPECT_EQ(find_decoder(*list, "m-7b-4L")->layers, 4);
  EXPECT_EQ(
      find_decoder(*list, "m-8b").error().message,
      "[frontend.decoders] decoder: got 'm-8b', need one that is listed; did you mean 'm-7b'?");
  EXPECT_THAT(read_decoder_list(R"({"models": {"x": {"hidden": 0}}})", "f").error().message,
              HasSubstr("f: x.hidden: got 0, need a positive integer"));
}

TEST(DecoderGraph, HoldsOneLayerAndItsCount) {
  const Decoder decoder = *read_huggingface(kLlama, "test");
  const auto graph = decoder_graph(decoder, Phase::Decode);
  ASSERT_TRUE(graph.ok()) << graph.error().to_string();
  ASSERT_EQ(graph->repeats().size(), 1U);
  EXPECT_EQ(graph->repeats()[0].count, 3);
  const std::string text = graph::print(*graph);
  EXPECT_THAT(text,
              HasSubstr("k_write: bf16 [batch, 2, context, 16] = cache_write k_cache "
                        "k_rotary axis=2"));
  EXPECT_THAT(text, HasSubstr("logits: bf16 [batch, 1, 1000] = linear final_norm head"));
}

TEST(DecoderGraph, PrefillIsCausalAndHasNoCache) {
  const Decoder decoder = *read_huggingface(kLlama, "test");
  const auto graph = decoder_graph(decoder, Phase::Prefill);
  ASSERT_TRUE(graph.ok()) << graph.error().to_string();
  const std::string text = graph::print(*graph);
  EXPECT_THAT(text, HasSubstr("= attention q_rotary k_rotary v causal=1"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("cache")));
}

TEST(DecoderGraph, ImpossibleSizesAreErrors) {
  Decoder decoder = *read_huggingface(kLlama, "test");
  decoder.kv_heads = 3;
  EXPECT_EQ(decoder_graph(decoder, Phase::Decode).error().message,
            "[frontend.decoder] test: heads: got 4 with 3 kv heads, need a multiple");
  decoder.layers = int64_t{1} << 40;
  EXPECT_THAT(decoder_graph(decoder, Phase::Decode).error().message, HasSubstr("layers: got"));
  EXPECT_THAT(decoder_graph(decoder, Phase::Train).error().message, HasSubstr("got train"));
}

TEST(Json, RefusesAKeyThatComesTwice) {
  const auto json = parse_json(R"({"a": {"b": 1, "c": 2, "b": 3}})", "x.json");
  ASSERT_FALSE(json.ok());
  EXPECT_NE(json.error().message.find("'b' twice"), std::string::npos) << json.error().message;
  EXPECT_TRUE(parse_json(R"([{"b": 1}, {"b": 1, "a": {"b": 1}}])", "x.json").ok());
}

}  // namespace
}  // namespace orrery::frontend
