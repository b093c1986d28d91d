// The text part of a config.json and its family.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/config_parts_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "orrery/base/text.h"
#include "orrery/frontend/families.h"

namespace orrery::frontend {

namespace {

/// Python writes Infinity, which is no JSON; no key that matters holds one: a number that no size
/// can be stands for it.
std::string without_python_numbers(std::string_view json) {
  std::string text(json);
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) {
      inside = !inside;
    }
    if (!inside && text.compare(i, 8, "Infinity") == 0) {
      text.replace(i, 8, "1.0e+308");
    }
  }
  return text;
}

/// An object's nested configurations of attention and feed-forward, beside its own keys.
Json flattened(const Json& config) {
  Json flat = config;
  for (const std::string_view part : {"attn_config", "ffn_config"}) {
    const Json* nested = config.find(part);
    for (const JsonMember& member :
         nested == nullptr ? std::vector<JsonMember>{} : nested->members) {
      std::string key = member.key;
      key = key == "kv_n_heads" ? "num_key_value_heads" : key;
      key = key == "ffn_hidden_size" ? "intermediate_size" : key;
      if (flat.find(key) == nullptr && key != "ffn_act_fn" && key != "hidden_size") {
        flat.members.push_back({key, member.value});
      }
    }
    std::erase_if(flat.members, [part](const JsonMember& member) { return member.key == part; });
  }
  return flat;
}

/// Hunyuan's files say for each layer what is the same in all.
void make_uniform(Json& config) {
  static constexpr std::string_view kKeys[] = {
      "moe_topk", "moe_intermediate_size", "num_shared_expert"};
  for (JsonMember& member : config.members) {
    const std::vector<Json>& items = member.value.items;
    const bool listed =
        std::find(std::begin(kKeys), std::end(kKeys), member.key) != std::end(kKeys);
    if (listed && !items.empty() && std::all_of(items.begin(), items.end(), [&](const Json& item) {
          return item.kind == Json::Kind::Integer && item.integer == items[0].integer;
        })) {
      member.value = Json(items[0]);
    }
  }
}

/// Text parts whose object does not say its model_type.
std::string text_type(std::string_view outer) {
  static constexpr std::pair<std::string_view, std::string_view> kInner[] = {
      {"llava", "llama"},
      {"gemma3", "gemma3_text"},
      {"gemma4", "gemma4_text"},
      {"llama4", "llama4_text"},
      {"mllama", "mllama_text_model"},
      {"kimi_k25", "kimi_k2"},
      {"mistral3", "mistral"},
      {"voxtral", "llama"},
      {"qwen3_vl", "qwen3_vl_text"},
      {"qwen3_5", "qwen3_5_text"},
      {"qwen3_5_moe", "qwen3_5_moe_text"},
      {"qwen3_vl_moe", "qwen3_vl_moe_text"},
      {"llava_next", "llama"},
      {"llava_next_video", "llama"},
      {"vipllava", "llama"},
      {"video_llava", "llama"},
      {"llava_onevision", "qwen2"},
      {"idefics3", "llama"},
      {"smolvlm", "llama"},
      {"internvl", "qwen2"},
      {"paligemma", "gemma"},
      {"aria", "aria_text"},
      {"glm4v", "glm4v_text"},
      {"glm4v_moe", "glm4v_moe_text"},
      {"qwen2_audio", "qwen2"},
      {"ovis2", "qwen2"},
      {"aya_vision", "cohere2"},
      {"cohere2_vision", "cohere2"},
      {"lfm2_vl", "lfm2"},
      {"deepseek_vl_v2", "deepseek_v2"},
      {"qwen2_5_omni_thinker", "qwen2_5_vl_text"},
      {"qwen3_omni_moe_thinker", "qwen3_vl_moe_text"},
      {"kimi_vl", "deepseek_v3"},
      {"clip", "clip_text_model"},
      {"siglip", "siglip_text_model"}};
  for (const auto& [wrapper, inner] : kInner) {
    if (wrapper == outer) {
      return std::string(inner);
    }
  }
  return "";
}

/// model_type and architectures are texts, if they are there.
Result<void> check_names(const Json& config, std::string_view name) {
  const Json* type = config.find("model_type");
  if (type != nullptr && !type->is_null() && type->kind != Json::Kind::String) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.huggingface] {}: model_type: got {}, need a text",
                      name,
                      type->to_text());
  }
  const Json* list = config.find("architectures");
  if (list != nullptr && !list->is_null() &&
      (list->kind != Json::Kind::Array ||
       std::any_of(list->items.begin(), list->items.end(), [](const Json& item) {
         return item.kind != Json::Kind::String;
       }))) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.huggingface] {}: architectures: got {}, need a list of texts",
                      name,
                      list->to_text());
  }
  return {};
}

std::string architecture_of(const Json& config) {
  const Json* list = config.find("architectures");
  return list == nullptr || list->items.empty() ? "" : list->items[0].string;
}

/// Known types whose arithmetic no operator here expresses.
struct Inexpressible {
  std::string_view type;
  std::string_view why;
};

constexpr Inexpressible kInexpressible[] = {
    {"apertus", "its activation xIELU"},
    {"bailing_hybrid", "its delta attention decays each channel on its own"},
    {"big_bird", "its attention is over chosen blocks"},
    {"blt", "its bytes are grouped into patches by a model of their own"},
    {"convbert", "its convolutions depend on their inputs"},
    {"deberta", "its scores add products with relative positions"},
    {"deberta-v2", "its scores add products with relative positions"},
    {"deepseek_v4", "its caches are compressed and its residual streams are several"},
    {"diffllama", "its attention subtracts two softmaxes"},
    {"doge", "its masks depend on the values"},
    {"gemma3n", "its layers have inputs of their own and alternating streams"},
    {"gemma3n_text", "its layers have inputs of their own and alternating streams"},
    {"kimi_linear", "its delta attention decays each channel on its own"},
    {"longcat_flash", "some of its experts have no weights"},
    {"longformer", "its attention has global tokens"},
    {"longt5", "its encoder attends to blocks and to their means"},
    {"recurrent_gemma", "its recurrence is gated element by element"},
    {"reformer", "its attention hashes"},
    {"rwkv", "its token mixing"},
    {"rwkv7", "its token mixing"},
    {"switch_transformers", "its experts drop tokens"},
    {"xlnet", "its attention has two streams"},
    {"xlstm", "its memory cells"},
    {"zamba", "its attention layers are shared and see the embedding again"},
    {"zamba2", "its attention layers are shared and see the embedding again"},
};

Result<Json> family_of(std::string_view type,
                       std::string_view architecture,
                       std::string_view name) {
  const Family* family = find_family(type, architecture);
  for (const Inexpressible& each : kInexpressible) {
    if (family == nullptr && each.type == type) {
      return make_error(ErrorCode::Unsupported,
                        "[frontend.huggingface] {}: model_type: got '{}', which no operator here "
                        "expresses: {}",
                        name,
                        type,
                        each.why);
    }
  }
  if (family == nullptr) {
    const std::vector<std::string> names = family_names();
    return make_error(ErrorCode::Unsupported,
                      "[frontend.huggingface] {}: model_type: got '{}'{}, need one of {}{}",
                      name,
                      type.substr(0, 80),
                      architecture.empty() ? "" : fmt::format(" ({})", architecture.substr(0, 80)),
                      join(names, ", "),
                      did_you_mean(type, names));
  }
  return parse_json(family->json, "families");
}

}  // namespace

std::string text_of(const Json& config, std::string_view key) {
  const Json* value = config.find(key);
  return value == nullptr ? "" : value->string;
}

Result<Parts> parts_of(std::string_view json, std::string_view name) {
  Parts parts;
  ORR_TRY(parts.file, parse_json(without_python_numbers(json), name));
  if (!parts.file.is_object()) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.huggingface] {}: got {}, need an object with 'architectures'",
                      name,
                      parts.file.to_text());
  }
  ORR_TRY_VOID(check_names(parts.file, name));
  if (const Json* thinker = parts.file.find("thinker_config");
      thinker != nullptr && thinker->is_object()) {  // Qwen Omni: what speaks is left out
    parts.file = Json(*thinker);
    parts.notes.emplace_back("the parts that speak (talker, decoder of sound) are left out");
  }
  const Json* nested = nullptr;
  for (const std::string_view key : {"language_config", "llm_config", "text_config"}) {
    const Json* found = parts.file.find(key);
    if (found != nullptr && found->is_object()) {
      nested = found;
      parts.text_key = key;
    }
  }
  parts.inner = nested != nullptr;
  parts.config = flattened(parts.inner ? *nested : parts.file);
  make_uniform(parts.config);
  ORR_TRY_VOID(check_names(parts.config, name));
  parts.type = text_of(parts.config, "model_type");
  if (parts.inner && (parts.type.empty() || find_family(parts.type, "") == nullptr)) {
    const std::string known = text_type(text_of(parts.file, "model_type"));
    parts.type = known.empty() ? parts.type : known;
  }
  parts.architecture = architecture_of(parts.file);
  if (parts.inner && parts.architecture.ends_with("ChatModel")) {  // InternVL: the whole, with head
    parts.architecture = architecture_of(*nested);
  }
  ORR_TRY(parts.family, family_of(parts.type, parts.inner ? "" : parts.architecture, name));
  return parts;
}

}  // namespace orrery::frontend
