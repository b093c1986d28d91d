// The keys of config.json: which are read, which do not matter, which are refused.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/huggingface.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "orrery/base/text.h"
#include "orrery/frontend/json.h"

namespace orrery::frontend {

namespace {

/// What an architecture's class in transformers fixes without a key of its own.
struct Architecture {
  std::string_view name;
  std::string_view model_type;
  bool qkv_bias;  // always has biases on q, k, v
  bool bias_key;  // reads attention_bias (q, k, v and output)
  bool qk_norm;
  bool window_needs_flag;  // sliding_window counts only if use_sliding_window is true
};

// Source: transformers 4.5x, models/{llama,mistral,qwen2,qwen3}/modeling_*.py.
constexpr std::array kArchitectures = {
    Architecture{"LlamaForCausalLM", "llama", false, true, false, false},
    Architecture{"MistralForCausalLM", "mistral", false, false, false, false},
    Architecture{"Qwen2ForCausalLM", "qwen2", true, false, false, true},
    Architecture{"Qwen3ForCausalLM", "qwen3", false, true, true, true},
};

/// Keys that leave the arithmetic of a forward pass as it is.
constexpr std::array<std::string_view, 34> kHarmless = {"_name_or_path",
                                                        "architectures",
                                                        "model_type",
                                                        "transformers_version",
                                                        "auto_map",
                                                        "attention_dropout",
                                                        "hidden_dropout",
                                                        "initializer_range",
                                                        "use_cache",
                                                        "bos_token_id",
                                                        "eos_token_id",
                                                        "pad_token_id",
                                                        "unk_token_id",
                                                        "sep_token_id",
                                                        "max_window_layers",
                                                        "rope_theta",
                                                        "rms_norm_eps",
                                                        "_attn_implementation_autoset",
                                                        "do_sample",
                                                        "temperature",
                                                        "top_p",
                                                        "top_k",
                                                        "max_length",
                                                        "id2label",
                                                        "label2id",
                                                        "problem_type",
                                                        "torchscript",
                                                        "return_dict",
                                                        "output_attentions",
                                                        "output_hidden_states",
                                                        "tokenizer_class",
                                                        "task_specific_params",
                                                        "gradient_checkpointing",
                                                        "chunk_size_feed_forward"};

/// Rotary variants that change the tables of cos and sin only, made once.
constexpr std::array<std::string_view, 5> kRotaryTables = {
    "default", "linear", "dynamic", "llama3", "yarn"};

/// Reads keys, remembers which, and collects what is wrong.
class Keys {
 public:
  explicit Keys(const Json& config) : config_(config) {}

  /// The value of `key` and the mark that it was read; none if absent or null.
  const Json* take(std::string_view key) {
    read_.insert(std::string(key));
    const Json* value = config_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  /// A positive integer; `missing` where the key is absent, an error if that is none.
  int64_t size(std::string_view key, std::optional<int64_t> missing = std::nullopt) {
    const Json* value = take(key);
    if (value == nullptr) {
      if (!missing) {
        wrong_.push_back(fmt::format("{}: got none, need a positive integer", key));
      }
      return missing.value_or(0);
    }
    if (value->kind != Json::Kind::Integer || value->integer < 1) {
      wrong_.push_back(fmt::format("{}: got {}, need a positive integer", key, value->to_text()));
    }
    return value->integer;
  }

  bool flag(std::string_view key, bool missing) {
    const Json* value = take(key);
    if (value != nullptr && value->kind != Json::Kind::Bool) {
      wrong_.push_back(fmt::format("{}: got {}, need true or false", key, value->to_text()));
    }
    return value == nullptr ? missing : value->boolean;
  }

  void refuse(std::string_view key, const Json& value, std::string_view need) {
    unsupported_.push_back(fmt::format("{}: got {}, need {}", key, value.to_text(), need));
  }

  void wrong(std::string message) { wrong_.push_back(std::move(message)); }

  /// Keys that nobody has read and that may change the arithmetic.
  void refuse_unread() {
    for (const auto& [key, value] : config_.members) {
      const bool harmless = std::find(kHarmless.begin(), kHarmless.end(), key) != kHarmless.end();
      const bool off = value.is_null() || (value.kind == Json::Kind::Bool && !value.boolean);
      if (!harmless && !off && !read_.contains(key)) {
        unsupported_.push_back(
            fmt::format("{}: not understood, and it may change what is computed "
                        "(got {})",
                        key,
                        value.to_text()));
      }
    }
  }

  Result<void> finish(std::string_view name) const {
    if (!wrong_.empty()) {
      return make_error(
          ErrorCode::InvalidInput, "[frontend.huggingface] {}: {}", name, join(wrong_, "; "));
    }
    if (!unsupported_.empty()) {
      return make_error(
          ErrorCode::Unsupported, "[frontend.huggingface] {}: {}", name, join(unsupported_, "; "));
    }
    return {};
  }

 private:
  const Json& config_;
  std::set<std::string> read_;
  std::vector<std::string> wrong_;
  std::vector<std::string> unsupported_;
};

Result<Architecture> find_architecture(const Json& config, std::string_view name) {
  std::string wanted;
  if (const Json* list = config.find("architectures");
      list != nullptr && !list->items.empty() && list->items[0].kind == Json::Kind::String) {
    wanted = list->items[0].string;
  }
  const Json* type = config.find("model_type");
  for (const Architecture& each : kArchitectures) {
    if (wanted == each.name ||
        (wanted.empty() && type != nullptr && type->string == each.model_type)) {
      return each;
    }
  }
  const std::string got = !wanted.empty() ? wanted : type != nullptr ? type->string : "none";
  return make_error(ErrorCode::Unsupported,
                    "[frontend.huggingface] {}: architecture: got '{}', need one of {}",
                    name,
                    got,
                    join(huggingface_architectures(), ", "));
}

void read_dtype(Keys& keys, Decoder& decoder) {
  const Json* value = keys.take("torch_dtype");
  const Json* renamed = keys.take("dtype");  // since transformers 4.56
  value = value != nullptr ? value : renamed;
  if (value == nullptr) {
    keys.wrong("torch_dtype: got none, need the type of the weights (bfloat16 ...)");
    return;
  }
  const Result<DType> dtype = parse_dtype(value->string);
  if (!dtype.ok()) {
    keys.wrong(
        fmt::format("torch_dtype: got {}, need bfloat16, float16 or float32", value->to_text()));
    return;
  }
  decoder.dtype = *dtype;
}

void read_rotary(Keys& keys) {
  for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
    const Json* value = keys.take(key);
    if (value == nullptr) {
      continue;
    }
    const Json* type = value->find("rope_type");
    type = type != nullptr ? type : value->find("type");
    const std::string kind = type != nullptr ? type->string : "";
    if (std::find(kRotaryTables.begin(), kRotaryTables.end(), kind) == kRotaryTables.end()) {
      keys.refuse(key,
                  type != nullptr ? *type : *value,
                  "rope_type default, linear, dynamic, llama3 or yarn");
    }
  }
}

void read_window(Keys& keys, const Architecture& architecture, Decoder& decoder) {
  const Json* window = keys.take("sliding_window");
  const bool on = keys.flag("use_sliding_window", !architecture.window_needs_flag);
  if (window != nullptr && on) {
    if (architecture.window_needs_flag) {
      keys.refuse("use_sliding_window", *window, "false (layers with and without a window)");
    } else if (architecture.name == "MistralForCausalLM") {
      decoder.window = keys.size("sliding_window");
    } else {
      keys.refuse("sliding_window", *window, "none");
    }
  }
  const Json* types = keys.take("layer_types");
  if (types != nullptr) {
    for (const Json& type : types->items) {
      if (type.string != "full_attention") {
        keys.refuse("layer_types", type, "full_attention in every layer");
        return;
      }
    }
  }
}

void read_fixed(Keys& keys) {
  if (const Json* act = keys.take("hidden_act"); act != nullptr && act->string != "silu") {
    keys.refuse("hidden_act", *act, "\"silu\"");
  }
  if (const Json* tp = keys.take("pretraining_tp"); tp != nullptr && tp->integer != 1) {
    keys.refuse("pretraining_tp", *tp, "1");
  }
}

}  // namespace

std::vector<std::string> huggingface_architectures() {
  std::vector<std::string> names;
  for (const Architecture& each : kArchitectures) {
    names.emplace_back(each.name);
  }
  return names;
}

Result<Decoder> read_huggingface(std::string_view json, std::string_view name) {
  ORR_TRY(const Json config, parse_json(json, name));
  if (!config.is_object()) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.huggingface] {}: got {}, need an object with 'architectures'",
                      name,
                      config.to_text());
  }
  ORR_TRY(const Architecture architecture, find_architecture(config, name));
  Keys keys(config);
  Decoder decoder;
  decoder.name = name;
  decoder.layers = keys.size("num_hidden_layers");
  decoder.hidden = keys.size("hidden_size");
  decoder.intermediate = keys.size("intermediate_size");
  decoder.heads = keys.size("num_attention_heads");
  decoder.kv_heads = keys.size("num_key_value_heads", decoder.heads);
  decoder.vocabulary = keys.size("vocab_size");
  decoder.most_positions = keys.size("max_position_embeddings", 0);
  decoder.head_dim = keys.size("head_dim", decoder.heads > 0 ? decoder.hidden / decoder.heads : 0);
  decoder.tied_embedding = keys.flag("tie_word_embeddings", false);
  const bool bias = keys.flag("attention_bias", false);
  decoder.qkv_bias = architecture.qkv_bias || (architecture.bias_key && bias);
  decoder.output_bias = architecture.bias_key && bias;
  decoder.mlp_bias = keys.flag("mlp_bias", false);
  decoder.qk_norm = architecture.qk_norm;
  const Json* epsilon = keys.take("rms_norm_eps");
  decoder.epsilon = epsilon != nullptr ? epsilon->decimal : 1e-6;  // the classes' default
  read_dtype(keys, decoder);
  read_rotary(keys);
  read_window(keys, architecture, decoder);
  read_fixed(keys);
  keys.refuse_unread();
  ORR_TRY_VOID(keys.finish(name));
  return decoder;
}

}  // namespace orrery::frontend
