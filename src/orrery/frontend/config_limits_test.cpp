// Files that are wrong on purpose: each is one error that names the key.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "orrery/frontend/huggingface.h"
#include "orrery/frontend/model_size.h"

namespace orrery::frontend {
namespace {

using ::testing::HasSubstr;

/// A small file of `type` with `added` among its keys, which stand before those they replace.
std::string file_of(std::string_view type, std::string_view added) {
  std::string text = "{" + std::string(added);
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"model_type", '"' + std::string(type) + '"'},
           {"hidden_size", "64"},
           {"intermediate_size", "128"},
           {"num_attention_heads", "4"},
           {"num_hidden_layers", "2"},
           {"vocab_size", "1000"}}) {
    if (added.find('"' + key + '"') == std::string_view::npos) {
      text += (text.size() == 1 ? "\"" : ", \"") + key + "\": " + value;
    }
  }
  return text + "}";
}

/// What reading and counting say; empty if nothing is wrong.
std::string complaint(std::string_view type, std::string_view added) {
  const auto model = read_huggingface(file_of(type, added), "test");
  if (!model.ok()) {
    return model.error().message;
  }
  const auto size = size_of(*model);
  return size.ok() ? "" : size.error().message;
}

struct Case {
  std::string_view type;
  std::string_view added;
  std::string_view says;
};

void expect_all(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    EXPECT_THAT(complaint(each.type, each.added), HasSubstr(each.says)) << each.added;
  }
}

TEST(ConfigLimits, NumbersThatNoSizeCanBe) {
  expect_all({
      {"llama", R"("head_dim": Infinity)", "head_dim: got 1e+308, need a positive integer"},
      {"llama", R"("max_position_embeddings": 9223372036854775807)", "need at most 2147483648"},
      {"llama", R"("rms_norm_eps": -1)", "rms_norm_eps: got -1, need at least 0"},
      {"llama", R"("hidden_size": 65)", "num_attention_heads: got 4, need a divisor of"},
      {"llama", R"("partial_rotary_factor": 1e300)", "partial_rotary_factor: got 1e+300, need"},
      {"llama",
       R"("rope_parameters": {"partial_rotary_factor": "x"})",
       "rope_parameters.partial_rotary_factor: got \"x\", need over 0"},
      {"llama", R"("rope_scaling": "yarn")", "rope_scaling: got \"yarn\", need an object"},
      {"deepseek_v3", R"("n_shared_experts": 4611686018427387904)", "n_shared_experts: got 46"},
      {"albert", R"("embedding_size": 536870912)", "embedding size: got 536870912, need 0 to"},
      {"bert", R"("type_vocab_size": 536870912)", "token types: got 536870912, need 0 to"},
      {"mamba", R"("time_step_rank": 1e300)", "time_step_rank: got 1e+300, need a positive"},
      {"mamba2", R"("num_heads": 3, "head_dim": 64)", "expand: got 2 times 64, need 3 heads of 64"},
      {"mamba2",
       R"("num_heads": 2, "n_groups": 3, "intermediate_size": null, "num_attention_heads": null)",
       "2 with 3 groups, need"},
  });
}

TEST(ConfigLimits, ListsOfTheWrongLengthOrKind) {
  expect_all({
      {"qwen3",
       R"("layer_types": ["full_attention", "full_attention", "full_attention"])",
       "layer_types: got a list of 3, need a list of 2, one for each layer"},
      {"llama4_text", R"("moe_layers": ["x"])", "moe_layers: got a list of 1, need a list of int"},
      {"llama4_text", R"("moe_layers": "x")", "moe_layers: got \"x\", need a list of integers"},
      {"nemotron_h",
       R"("hybrid_override_pattern": "MMM", "num_key_value_heads": 2)",
       "got 3 letters, need 2, one for each layer"},
      {"nemotron-nas",
       R"("block_configs": [{"attention": 3, "ffn": 4}, {}])",
       "block_configs: got an object of 2, need objects with 'attention' and 'ffn'"},
      {"nemotron-nas",
       R"("block_configs": [{"attention": {"n_heads_in_group": -8}, "ffn": {"ffn_mult": 1e300}},)"
       R"({"attention": {}, "ffn": {}}])",
       "n_heads_in_group: got -8, need a positive integer; block_configs.ffn.ffn_mult: got 1e+300"},
  });
  // A layer that predicts a further token may have an entry behind those of the two layers.
  EXPECT_EQ(complaint("qwen3",
                      R"("num_key_value_heads": 4, "num_nextn_predict_layers": 1,)"
                      R"("layer_types": ["full_attention", "full_attention", "full_attention"])"),
            "");
}

TEST(ConfigLimits, NamesAndObjectsOfTheWrongKind) {
  expect_all({
      {"llama", R"("model_type": 3)", "model_type: got 3, need a text"},
      {"llama", R"("architectures": [{}])", "architectures: got a list of 1, need a list of texts"},
      {"vit", R"("id2label": 3)", "id2label: got 3, need an object"},
      {"llama", R"("quantization_config": "fp8")", "quantization_config: got \"fp8\", need an obj"},
      {"llama",
       R"("quantization_config": {"quant_method": "awq", "group_size": -7})",
       "quantization_config.group_size: got -7, need -1 or a positive integer"},
      {"llama",
       R"("quantization_config": {"quant_method": "fp8", "ignore": 3})",
       "quantization_config.ignore: got 3, need a list of texts"},
      {"llama",
       R"("quantization_config": {"quant_method": "fp8", "ignore": ["re:(("]})",
       "quantization_config.ignore: got \"re:((\", need a module's name or a pattern"},
      {"llama", R"("vision_config": 3)", "vision_config: got 3, need an object"},
      {"llama", R"("vision_config": {"image_size": -3})", "vision_config.image_size: got -3"},
      {"llama", R"("vision_config": {"mlp_ratio": 1e300})", "vision_config.mlp_ratio: got 1e+300"},
  });
}

TEST(ConfigLimits, AComplaintStandsOnceAndALongListIsCut) {
  EXPECT_EQ(complaint("llama", R"("torch_dtype": 3)"),
            "[frontend.huggingface] test: torch_dtype: got 3, need bfloat16, float16 or float32");
  std::string many = "\"k0\": 1";
  for (int i = 1; i < 1000; ++i) {
    many += ", \"k" + std::to_string(i) + "\": 1";
  }
  EXPECT_THAT(complaint("llama", many), ::testing::EndsWith("; and 980 more"));
}

}  // namespace
}  // namespace orrery::frontend
