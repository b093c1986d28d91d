// Frontends: config.json, lists of decoders, the decoder's graph.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "orrery/frontend/decoder_list.h"
#include "orrery/frontend/huggingface.h"
#include "orrery/frontend/json.h"
#include "orrery/frontend/model_graph.h"
#include "orrery/frontend/model_size.h"
#include "orrery/frontend/module_pattern.h"
#include "orrery/graph/parse.h"
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
  const Result<Model> model = read_huggingface(json, "test");
  return model.ok() ? "" : model.error().message;
}

const Attention& attention_of(const Model& model) {
  return *first_attention(model.stack);
}

TEST(Huggingface, ReadsSizes) {
  const Result<Model> model = read_huggingface(kLlama, "test");
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_EQ(model->hidden, 64);
  EXPECT_EQ(layer_count(model->stack), 3);
  EXPECT_EQ(attention_of(*model).head_dim, 16);  // hidden / heads, as none is given
  EXPECT_EQ(attention_of(*model).kv_heads, 2);
  EXPECT_EQ(model->dtype, DType::BF16);
  EXPECT_FALSE(attention_of(*model).qkv_bias);
}

TEST(Huggingface, FamiliesDifferInBiasAndNorm) {
  const auto qwen2 = read_huggingface(with("\"llama\"", "\"qwen2\""), "q2");
  ASSERT_TRUE(qwen2.ok()) << qwen2.error().to_string();
  EXPECT_TRUE(attention_of(*qwen2).qkv_bias);
  EXPECT_FALSE(attention_of(*qwen2).output_bias);
  const auto qwen3 = read_huggingface(with("\"llama\"", "\"qwen3\""), "q3");
  ASSERT_TRUE(qwen3.ok()) << qwen3.error().to_string();
  EXPECT_EQ(attention_of(*qwen3).qk_norm, QkNorm::Head);
  EXPECT_FALSE(attention_of(*qwen3).qkv_bias);
}

TEST(Huggingface, KeyThatChangesTheArithmeticIsNamed) {
  const std::string added = with("\"model_type\"", "\"hash_layers\": 3, \"model_type\"");
  EXPECT_EQ(complaint(added),
            "[frontend.huggingface] test: hash_layers: not understood, and it may change what is "
            "computed (got 3)");
  EXPECT_THAT(complaint(with("\"silu\"", "\"xielu\"")), HasSubstr("hidden_act: got \"xielu\""));
  EXPECT_THAT(complaint(with("llama3", "spiral")), HasSubstr("rope_scaling: got \"spiral\""));
}

TEST(Huggingface, WindowsAreOfTheLayersThatHaveThem) {
  const auto mistral =
      read_huggingface(with("\"llama\"", "\"mistral\", \"sliding_window\": 4096"), "m");
  EXPECT_EQ(attention_of(*mistral).window, 4096);
  const auto off = read_huggingface(
      with("\"llama\"", "\"qwen2\", \"sliding_window\": 4096, \"use_sliding_window\": false"), "q");
  EXPECT_EQ(attention_of(*off).window, 0);
  // Qwen 2 with the flag: layers from max_window_layers on.
  const auto on =
      read_huggingface(with("\"llama\"",
                            "\"qwen2\", \"sliding_window\": 4096, \"use_sliding_window\": true, "
                            "\"max_window_layers\": 2"),
                       "q");
  ASSERT_EQ(on->stack.groups.size(), 2U);
  EXPECT_EQ(std::get<Attention>(on->stack.groups[0].body[0].mixer).window, 0);
  EXPECT_EQ(std::get<Attention>(on->stack.groups[1].body[0].mixer).window, 4096);
}

TEST(Huggingface, UnknownFamilyListsTheKnown) {
  const std::string text = complaint(with("\"llama\"", "\"lama\""));
  EXPECT_THAT(text, HasSubstr("test: model_type: got 'lama' (LlamaForCausalLM), need one of "));
  EXPECT_THAT(text, HasSubstr("did you mean 'llama'"));
}

TEST(Huggingface, WhatNoOperatorExpressesIsRefusedInOneLine) {
  EXPECT_EQ(
      complaint(with("\"llama\"", "\"rwkv\"")),
      "[frontend.huggingface] test: model_type: got 'rwkv', which no operator here expresses: "
      "its token mixing");
}

TEST(Huggingface, TheWholeOrItsTextPartTiesTheHead) {
  const auto tied = [](std::string_view outer, std::string_view inner) {
    const auto model = read_huggingface(
        fmt::format(R"({{"model_type": "llava", "tie_word_embeddings": {}, "text_config":
          {{"model_type": "llama", "tie_word_embeddings": {}}}}})",
                    outer,
                    inner),
        "test");
    return model.ok() && model->head.tied;
  };
  EXPECT_TRUE(tied("true", "false"));
  EXPECT_TRUE(tied("false", "true"));
  EXPECT_FALSE(tied("false", "false"));
  EXPECT_FALSE(tied("null", "false"));
}

TEST(Huggingface, TextPartsUnderOtherNames) {
  const std::string text(kLlama);
  for (
      const std::string& file :
      {R"({"model_type": "internvl_chat", "architectures": ["InternVLChatModel"], "llm_config": )" +
           text + "}",
       R"({"model_type": "deepseek_vl_v2", "language_config": )" + text + "}",
       R"({"model_type": "qwen2_5_omni", "talker_config": {"a": 1}, "thinker_config": )"
       R"({"text_config": )" +
           text + "}}"}) {
    const auto model = read_huggingface(file, "test");
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    EXPECT_TRUE(model->head.logits) << file;
    EXPECT_EQ(layer_count(model->stack), 3);
  }
}

TEST(Huggingface, ExpertsAndTheirCounts) {
  const auto model = read_huggingface(
      with("\"llama\"", "\"mixtral\", \"num_local_experts\": 8, \"num_experts_per_tok\": 2"), "m");
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const auto size = size_of(*model);
  ASSERT_TRUE(size.ok()) << size.error().to_string();
  // experts of 3 x 64 x 128 each, of which a token meets two of eight
  EXPECT_EQ(size->parameters - size->active, 3.0 * 6 * 3 * 64 * 128);
}

TEST(Huggingface, QuantisationLeavesOutWhatItLists) {
  const auto model =
      read_huggingface(with("\"llama\"",
                            "\"llama\", \"quantization_config\": {\"quant_method\": \"fp8\", "
                            "\"weight_block_size\": [128, 128], \"modules_to_not_convert\": "
                            "[\"model.layers.1.mlp\"]}"),
                       "m");
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const std::vector<Layer> layers = unrolled(model->stack);
  const auto scheme = [&layers](size_t layer, Part part) {
    return layers[layer].precision[static_cast<size_t>(part)].scheme;
  };
  EXPECT_EQ(scheme(0, Part::Up), graph::Scheme::Block);
  EXPECT_EQ(scheme(1, Part::Up), graph::Scheme::None);
  EXPECT_EQ(scheme(1, Part::Qkv), graph::Scheme::Block);
  EXPECT_EQ(scheme(0, Part::Head), graph::Scheme::None);
  EXPECT_THAT(complaint(with("\"llama\"",
                             "\"llama\", \"quantization_config\": {\"quant_method\": \"hqq\"}")),
              HasSubstr("quantization_config.quant_method: got 'hqq', need fp8"));
}

TEST(Huggingface, QuantisationLeavesOutModulesByTheNamesOfTheirClass) {
  constexpr std::string_view kFile = R"({"model_type": "lfm2", "num_hidden_layers": 2,
    "layer_types": ["conv", "full_attention"], "quantization_config": {"quant_method": "fp8",
    "modules_to_not_convert": ["conv.in_proj", "feed_forward.w2"]}})";
  const auto model = read_huggingface(kFile, "m");
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const std::vector<Layer> layers = unrolled(model->stack);
  const auto scheme = [&layers](Part part) {
    return layers[0].precision[static_cast<size_t>(part)].scheme;
  };
  EXPECT_EQ(scheme(Part::MixerInput), graph::Scheme::None);
  EXPECT_EQ(scheme(Part::Down), graph::Scheme::None);
  EXPECT_EQ(scheme(Part::Up), graph::Scheme::Tensor);
}

TEST(ModulePattern, NamesGlobsAndExpressions) {
  constexpr std::string_view kName = "model.layers.10.mlp.gate_proj";
  EXPECT_TRUE(matches_module("model.layers.10", kName));
  EXPECT_FALSE(matches_module("model.layers.1", kName));
  EXPECT_TRUE(matches_module("model.layers.1*", kName));
  EXPECT_FALSE(matches_module("model.layers.1.*", kName));
  EXPECT_TRUE(matches_module("gate_proj", kName));
  EXPECT_FALSE(matches_module("gate", kName));
  EXPECT_TRUE(matches_module("re:.*mlp\\.(gate|up|gate_up|down)_proj.*", kName));
  EXPECT_FALSE(matches_module("re:.*self_attn.*", kName));
  EXPECT_TRUE(matches_module("re:model\\.layers\\.\\d+\\.mlp", kName));
  EXPECT_FALSE(matches_module("re:(a*)*(a*)*(a*)*b", std::string(100, 'a'))) << "gives up";
}

TEST(Groups, PeriodsAreFoundAndCutApart) {
  Layer full;
  full.mixer = Attention{.heads = 1};
  Layer linear;
  linear.mixer = DeltaNet{.k_heads = 1};
  std::vector<Layer> layers;
  for (int i = 0; i < 12; ++i) {
    layers.push_back(i % 4 == 3 ? full : linear);
  }
  Stack stack;
  stack.groups = grouped(layers);
  ASSERT_EQ(stack.groups.size(), 1U);
  EXPECT_EQ(stack.groups[0].times, 3);
  EXPECT_EQ(unrolled(stack), layers);
  Model model;
  model.stack = stack;
  cut_layers(model, 6);  // one whole period and half of another
  EXPECT_EQ(layer_count(model.stack), 6);
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
            "[frontend.json] f: got what is not JSON at line 2, column 8, need JSON");
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
  EXPECT_EQ(layer_count(find_decoder(*list, "m-7b")->stack), 32);
  EXPECT_EQ(layer_count(find_decoder(*list, "m-7b-4L")->stack), 4);
  EXPECT_EQ(
      find_decoder(*list, "m-8b").error().message,
      "[frontend.decoders] decoder: got 'm-8b', need one that is listed; did you mean 'm-7b'?");
  EXPECT_THAT(read_decoder_list(R"({"models": {"x": {"hidden": 0}}})", "f").error().message,
              HasSubstr("f: x.hidden: got 0, need a positive integer"));
}

TEST(ModelGraph, HoldsOneLayerAndItsCount) {
  const Model decoder = *read_huggingface(kLlama, "test");
  const auto graph = model_graph(decoder, Phase::Decode);
  ASSERT_TRUE(graph.ok()) << graph.error().to_string();
  ASSERT_EQ(graph->repeats().size(), 1U);
  EXPECT_EQ(graph->repeats()[0].count, 3);
  const std::string text = graph::print(*graph);
  EXPECT_THAT(text,
              HasSubstr("k_write: bf16 [batch, 2, context, 16] = cache_write k_cache "
                        "k_rotary axis=2"));
  EXPECT_THAT(text, HasSubstr("logits: bf16 [batch, 1, 1000] = linear final_norm head"));
}

TEST(ModelGraph, PrefillIsCausalAndHasNoCache) {
  const Model decoder = *read_huggingface(kLlama, "test");
  const auto graph = model_graph(decoder, Phase::Prefill);
  ASSERT_TRUE(graph.ok()) << graph.error().to_string();
  const std::string text = graph::print(*graph);
  EXPECT_THAT(text, HasSubstr("= attention q_rotary k_rotary v causal=1"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("cache")));
}

TEST(ModelGraph, ImpossibleSizesAreErrors) {
  Model model = *read_huggingface(kLlama, "test");
  std::get<Attention>(model.stack.groups[0].body[0].mixer).kv_heads = 3;
  EXPECT_EQ(model_graph(model, Phase::Decode).error().message,
            "[frontend.model] test: heads: got 4 with 3 kv heads, need a multiple");
  model.stack.groups[0].times = int64_t{1} << 40;
  EXPECT_THAT(model_graph(model, Phase::Decode).error().message, HasSubstr("layers: got"));
  EXPECT_THAT(model_graph(model, Phase::Train).error().message, HasSubstr("got train"));
}

TEST(ModelGraph, TextFormRoundTripsForEveryKindOfLayer) {
  Layer layer;
  layer.dense = Dense{.width = 32};
  const std::vector<Mixer> mixers = {
      Attention{.heads = 4,
                .kv_heads = 2,
                .head_dim = 16,
                .value_dim = 8,
                .rotary_dim = 8,
                .window = 7,
                .sinks = true,
                .qk_norm = QkNorm::Width,
                .output_gate = true},
      LatentAttention{
          .heads = 4, .q_rank = 8, .kv_rank = 16, .nope_dim = 8, .rope_dim = 4, .value_dim = 8},
      LatentAttention{.heads = 4,
                      .q_rank = 8,
                      .kv_rank = 16,
                      .nope_dim = 8,
                      .rope_dim = 4,
                      .value_dim = 8,
                      .indexer = Indexer{.heads = 2, .head_dim = 8, .topk = 3}},
      DeltaNet{.k_heads = 2, .k_dim = 8, .v_heads = 4, .v_dim = 8},
      Lightning{.heads = 2, .head_dim = 8},
      Mamba1{.inner = 32, .state = 4, .rank = 2, .norms = true},
      Mamba2{.heads = 4, .head_dim = 8, .groups = 2, .state = 4},
      ShortConv{.channels = 64, .bias = true}};
  Model model = *read_huggingface(kLlama, "test");
  for (size_t i = 0; i < mixers.size(); ++i) {
    layer.mixer = mixers[i];
    layer.beside = Mamba2{.heads = 2, .head_dim = 8, .groups = 1, .state = 4};
    layer.experts = Experts{
        .count = 4, .topk = 2, .width = 16, .bias = true, .shared_width = 16, .shared_gate = true};
    layer.precision[static_cast<size_t>(Part::Experts)] = {
        DType::I4, DType::BF16, graph::Scheme::Group, 32};
    model.stack.groups = {{2, {layer}}};
    for (const Phase phase : {Phase::Prefill, Phase::Decode}) {
      const auto graph = model_graph(model, phase);
      ASSERT_TRUE(graph.ok()) << i << graph.error().to_string();
      const auto read = graph::parse(graph::print(*graph));
      ASSERT_TRUE(read.ok()) << read.error().to_string() << graph::print(*graph);
      EXPECT_EQ(*read, *graph) << i;
    }
  }
}

TEST(ModelGraph, AClassNamedLmHeadModelHasLogits) {
  const auto model =
      read_huggingface(R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]})", "test");
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_TRUE(model->head.logits);
  EXPECT_FALSE(read_huggingface(R"({"model_type": "gpt2", "architectures": ["GPT2Model"]})", "test")
                   ->head.logits);
}

TEST(Huggingface, FalconsOldClassHasOneKeyHeadWhateverItsFileCounts) {
  const auto model =
      read_huggingface(R"({"model_type": "falcon", "hidden_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_kv_heads": 4, "vocab_size": 100, "multi_query": true})",
                       "test");
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_EQ(attention_of(*model).kv_heads, 1);
}

TEST(Huggingface, EncodersAttendBothWays) {
  for (const std::string_view type : {"bert", "albert", "modernbert", "vit"}) {
    const auto model = read_huggingface(fmt::format(R"({{"model_type": "{}", "hidden_size": 64,
        "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 128}})",
                                                    type),
                                        "test");
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    for (const Layer& layer : unrolled(model->stack)) {
      EXPECT_FALSE(std::get<Attention>(layer.mixer).causal) << type;
    }
  }
}

TEST(ModelGraph, AnEncoderHasNoDecodeStep) {
  Model model = *read_huggingface(kLlama, "test");
  model.decodes = false;
  EXPECT_THAT(model_graph(model, Phase::Decode).error().message, HasSubstr("is an encoder"));
}

TEST(Json, RefusesAKeyThatComesTwice) {
  const auto json = parse_json(R"({"a": {"b": 1, "c": 2, "b": 3}})", "x.json");
  ASSERT_FALSE(json.ok());
  EXPECT_NE(json.error().message.find("'b' twice"), std::string::npos) << json.error().message;
  EXPECT_TRUE(parse_json(R"([{"b": 1}, {"b": 1, "a": {"b": 1}}])", "x.json").ok());
}

std::string quantised(std::string_view family, std::string_view config) {
  return fmt::format("{{\"model_type\": \"{}\", \"quantization_config\": {}}}", family, config);
}

std::string refusal(std::string_view family, std::string_view config) {
  const auto model = read_huggingface(quantised(family, config), "quantised");
  return model.ok() ? "read" : model.error().to_string();
}

// A 600-letter name needs one step a letter; a pattern that backtracks is an error, not a guess.
TEST(Quantisation, BoundsWhatAllPatternsTakeTogether) {
  EXPECT_THAT(refusal("llama", R"({"quant_method": "fp8", "ignored_layers": ["re:(.*)*x"]})"),
              HasSubstr("patterns that take too many steps"));
  std::string many = "\"re:.*[qkv]_proj.*\"";
  for (int i = 0; i < 100; ++i) {
    many += fmt::format(", \"re:.*layers\\\\.{}\\\\..*\"", i);
  }
  EXPECT_EQ(
      refusal("llama", fmt::format(R"({{"quant_method": "fp8", "ignored_layers": [{}]}})", many)),
      "read");
}

TEST(Quantisation, RefusesWhatChangesTheArithmetic) {
  EXPECT_THAT(
      refusal("llama", R"({"quant_method": "gptq", "bits": 4, "dynamic": {"+:.*": {"bits": 8}}})"),
      HasSubstr("quantization_config.dynamic"));
  EXPECT_THAT(refusal("llama", R"({"quant_method": "gptq", "bits": 4, "lm_head": true})"),
              HasSubstr("quantization_config.lm_head"));
  EXPECT_THAT(refusal("llama", R"({"quant_method": "compressed-tensors", "format": "marlin-24"})"),
              HasSubstr("quantization_config.format: got 'marlin-24'"));
}

// Gemma 4's experts lie beside its feed-forward, whose modules a list leaves out.
TEST(Quantisation, FindsExpertsWhereTheFamilyHasThem) {
  const auto model = read_huggingface(
      R"({"model_type": "gemma4_text", "hidden_size_per_layer_input": 0, "enable_moe_block": true,
          "num_experts": 128, "top_k_experts": 8, "moe_intermediate_size": 704,
          "quantization_config": {"quant_method": "fp8",
                                  "ignored_layers": ["model.layers.*.mlp*"]}})",
      "gemma4");
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const Layer& layer = model->stack.groups.front().body.front();
  EXPECT_EQ(layer.precision[static_cast<size_t>(Part::Experts)].scheme, graph::Scheme::Tensor);
  EXPECT_EQ(layer.precision[static_cast<size_t>(Part::Up)].scheme, graph::Scheme::None);
}

graph::Scheme scheme_of(const Model& model, Part part) {
  const Layer& layer = model.stack.groups.front().body.front();
  return layer.precision[static_cast<size_t>(part)].scheme;
}

// A name stands for every module that has it among its parts, as engines match names.
TEST(Quantisation, ANameMeansTheModulesThatHoldIt) {
  const auto mlp = read_huggingface(
      quantised("llama", R"({"quant_method": "awq", "modules_to_not_convert": ["mlp"]})"), "mlp");
  ASSERT_TRUE(mlp.ok()) << mlp.error().to_string();
  EXPECT_EQ(scheme_of(*mlp, Part::Up), graph::Scheme::None);
  EXPECT_EQ(scheme_of(*mlp, Part::Down), graph::Scheme::None);
  EXPECT_EQ(scheme_of(*mlp, Part::Qkv), graph::Scheme::Group);
  const auto experts = read_huggingface(
      quantised("mixtral",
                R"({"quant_method": "fp8", "ignored_layers": ["block_sparse_moe.experts"]})"),
      "experts");
  ASSERT_TRUE(experts.ok()) << experts.error().to_string();
  EXPECT_EQ(scheme_of(*experts, Part::Experts), graph::Scheme::None);
  EXPECT_EQ(scheme_of(*experts, Part::Qkv), graph::Scheme::Tensor);
  const auto opt = read_huggingface(
      R"({"model_type": "opt", "quantization_config":
          {"quant_method": "gptq", "bits": 4, "modules_to_not_convert": ["fc2"]}})",
      "opt");
  ASSERT_TRUE(opt.ok()) << opt.error().to_string();
  EXPECT_EQ(scheme_of(*opt, Part::Down), graph::Scheme::None);
  EXPECT_EQ(scheme_of(*opt, Part::Up), graph::Scheme::Group);
}

TEST(Quantisation, ANameOfNoModuleIsRefused) {
  const std::string config = R"({"quant_method": "fp8", "ignored_layers": ["model.layers.3.mpl"]})";
  EXPECT_THAT(refusal("llama", config),
              HasSubstr("got 'model.layers.3.mpl', need the name of a module of llama"));
  EXPECT_EQ(refusal("llama",
                    R"({"quant_method": "fp8", "ignored_layers":
                        ["lm_head", "model.layers.0.input_layernorm", "model.layers.32.mlp", "visual"]})"),
            "read");
}

TEST(Quantisation, ActivationsOfAnotherTypeThanTheWeightsAreRefused) {
  const auto config = [](std::string_view weights, std::string_view activations) {
    return fmt::format(
        R"({{"quant_method": "compressed-tensors", "config_groups": {{"group_0": {{
            "targets": ["Linear"], "weights": {}, "input_activations": {}}}}}}})",
        weights,
        activations);
  };
  constexpr std::string_view kFp4 = R"({"num_bits": 4, "type": "float", "group_size": 16})";
  constexpr std::string_view kFp8 = R"({"num_bits": 8, "type": "float", "strategy": "channel"})";
  constexpr std::string_view kInt4 = R"({"num_bits": 4, "type": "int"})";
  EXPECT_EQ(refusal("llama", config(kFp4, kFp4)), "read");
  EXPECT_EQ(refusal("llama", config(kFp8, kFp8)), "read");
  EXPECT_EQ(refusal("llama", config(kFp4, "null")), "read");
  EXPECT_THAT(refusal("llama", config(kFp4, kFp8)), HasSubstr("input_activations: got '8 bits"));
  EXPECT_THAT(refusal("llama", config(kFp8, kInt4)), HasSubstr("input_activations: got '4 bits"));
}

TEST(Quantisation, AFusedProductIsLeftWholeOrNotAtAll) {
  EXPECT_THAT(refusal("llama", R"({"quant_method": "fp8", "ignored_layers": ["re:.*v_proj"]})"),
              HasSubstr("got some of q_proj, k_proj and v_proj of layer 0"));
  EXPECT_EQ(refusal("llama",
                    R"({"quant_method": "fp8", "ignored_layers": ["q_proj", "k_proj", "v_proj"]})"),
            "read");
}

TEST(Quantisation, BitsAreAWholeNumber) {
  for (const std::string_view bits : {"\"8\"", "8.0", "null"}) {
    const std::string config = fmt::format(R"({{"quant_method": "gptq", "bits": {}}})", bits);
    EXPECT_THAT(refusal("llama", config), HasSubstr("quantization_config.bits")) << bits;
  }
}

TEST(Huggingface, WhatIsComputedInIsNoStorageType) {
  for (const std::string_view type : {"int8", "float8_e4m3fn", "e4m3"}) {
    const auto model = read_huggingface(
        fmt::format(R"({{"model_type": "llama", "torch_dtype": "{}"}})", type), "llama");
    ASSERT_FALSE(model.ok()) << type;
    EXPECT_NE(model.error().to_string().find("torch_dtype: got"), std::string::npos);
  }
}

TEST(Huggingface, AttentionThatIsNotCausalIsRefusedWhereItIsNotUnderstood) {
  const auto model = read_huggingface(R"({"model_type": "llama", "is_causal": false})", "llama");
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().to_string().find("is_causal"), std::string::npos);
  EXPECT_TRUE(read_huggingface(R"({"model_type": "llama", "is_causal": true})", "llama").ok());
}

}  // namespace
}  // namespace orrery::frontend
