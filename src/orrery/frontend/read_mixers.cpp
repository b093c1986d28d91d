// Attention, latent attention, recurrences and experts from their keys.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "orrery/base/text.h"
#include "orrery/frontend/read_layers_internal.h"

namespace orrery::frontend {

namespace {

struct NamedActivation {
  std::string_view name;
  graph::OpKind kind;
};

constexpr std::array kActivations = {
    NamedActivation{"silu", graph::OpKind::Silu},
    NamedActivation{"swish", graph::OpKind::Silu},
    NamedActivation{"gelu", graph::OpKind::Gelu},
    NamedActivation{"gelu_new", graph::OpKind::GeluTanh},
    NamedActivation{"gelu_fast", graph::OpKind::GeluTanh},
    NamedActivation{"gelu_tanh", graph::OpKind::GeluTanh},
    NamedActivation{"gelu_pytorch_tanh", graph::OpKind::GeluTanh},
    NamedActivation{"quick_gelu", graph::OpKind::QuickGelu},
    NamedActivation{"relu", graph::OpKind::Relu},
    NamedActivation{"relu2", graph::OpKind::Relu2},
    NamedActivation{"tanh", graph::OpKind::Tanh},
};

/// Rotary variants that change the tables of cos and sin only, made once.
constexpr std::array<std::string_view, 10> kRotaryTables = {"default",
                                                            "linear",
                                                            "dynamic",
                                                            "llama3",
                                                            "yarn",
                                                            "longrope",
                                                            "su",
                                                            "mrope",
                                                            "proportional",
                                                            "ntk"};

/// Is a rotary kind known? Objects of one per layer type are looked into.
void check_rotary(Keys& keys, std::string_view key, const Json& value) {
  const Json* type = value.find("rope_type");
  type = type != nullptr ? type : value.find("type");
  if (type == nullptr) {
    for (const JsonMember& member : value.members) {
      if (member.value.is_object()) {
        check_rotary(keys, key, member.value);
      }
    }
    return;
  }
  if (std::find(kRotaryTables.begin(), kRotaryTables.end(), type->string) == kRotaryTables.end()) {
    keys.refuse(
        key,
        *type,
        "rope_type " +
            join(std::vector<std::string>(kRotaryTables.begin(), kRotaryTables.end()), ", "));
  }
}

/// A share of head_dim from an object of rotary parameters.
double share_in(Keys& keys, std::string_view key, const Json& value, double missing) {
  const Json* part = value.find("partial_rotary_factor");
  if (part == nullptr) {
    return missing;
  }
  if (!(part->decimal > 0 && part->decimal <= 1)) {
    keys.wrong(fmt::format("{}.partial_rotary_factor", key), part->to_text(), "over 0, at most 1");
    return missing;
  }
  return part->decimal;
}

/// The share of head_dim that is turned, from whatever key says it.
double rotary_share(Keys& keys) {
  double share = 1;
  if (const Json* fixed = keys.fact("partial")) {
    share = fixed->decimal;
  }
  for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
    if (const Json* value = keys.take(key); value != nullptr) {
      if (!value->is_object()) {
        keys.wrong(key, value->to_text(), "an object");
        continue;
      }
      check_rotary(keys, key, *value);
      share = share_in(keys, key, *value, share);
    }
  }
  for (const std::string_view key : {"rotary_pct", "rope_pct", "partial_rotary_factor"}) {
    const double own = keys.number(key, share);
    if (own > 0 && own <= 1) {
      share = own;
    } else {
      keys.wrong(key, fmt::format("{}", own), "over 0, at most 1");
    }
  }
  return share;
}

QkNorm read_qk_norm(Keys& keys) {
  const std::string fixed = keys.fact_text("qk_norm", "none");
  if (fixed == "head") {
    if (!keys.flag("use_qk_norm", true)) {
      keys.refuse("use_qk_norm", "false", "true");
    }
    return QkNorm::Head;
  }
  if (fixed == "no_weight") {
    return QkNorm::NoWeight;
  }
  if (fixed == "head_layer") {
    return keys.flag("qk_layernorm") ? QkNorm::HeadLayer : QkNorm::None;
  }
  if (fixed == "width") {
    keys.flag("use_qk_norm");
    keys.text("qk_norm_type");
    return QkNorm::Width;
  }
  if (keys.flag("qk_layernorm")) {
    return QkNorm::PerHead;
  }
  if (keys.flag("use_qk_norm")) {
    return keys.fact_text("norm") == "layer_no_bias" ? QkNorm::PerHead : QkNorm::Head;
  }
  return QkNorm::None;
}

}  // namespace

std::optional<graph::OpKind> find_activation(std::string_view name) {
  const auto found = std::find_if(kActivations.begin(),
                                  kActivations.end(),
                                  [name](const auto& each) { return each.name == name; });
  return found == kActivations.end() ? std::nullopt : std::optional(found->kind);
}

graph::OpKind read_activation(Keys& keys, std::string_view key, std::string_view missing) {
  std::string name = keys.text(key, missing);
  if (keys.fact_flag("glu_names")) {
    name = name == "swiglu" ? "silu" : name == "geglu" ? "gelu" : name;
  }
  const auto kind = find_activation(keys.fact_text("activation", name));
  if (!kind) {
    std::vector<std::string> known;
    for (const NamedActivation& each : kActivations) {
      known.emplace_back(each.name);
    }
    keys.refuse(key, fmt::format("\"{}\"", name.substr(0, 40)), "one of " + join(known, ", "));
  }
  return kind.value_or(graph::OpKind::Silu);
}

Attention read_attention(Keys& keys, int64_t hidden) {
  Attention attention;
  attention.heads = keys.size("num_attention_heads");
  attention.kv_heads = keys.size("num_key_value_heads", attention.heads);
  // Falcon's class ignores the number of key heads unless it is of the newer kind.
  const bool counted = keys.fact_flag("falcon") ? keys.flag("new_decoder_architecture")
                                                : keys.given("num_key_value_heads");
  if (keys.flag("multi_query") && !counted) {
    attention.kv_heads = 1;
  }
  const int64_t heads = std::max<int64_t>(attention.heads, 1);
  attention.head_dim = keys.size("head_dim", hidden / heads);
  if (keys.take("head_dim") == nullptr && hidden % heads != 0) {
    keys.wrong("num_attention_heads",
               fmt::format("{}", heads),
               fmt::format("a divisor of the hidden size, {}, or head_dim", hidden));
  }
  attention.value_dim = attention.head_dim;
  const Json* rotary = keys.fact("rotary");
  const bool by_key = rotary != nullptr && rotary->kind == Json::Kind::String;
  const bool turned =
      rotary == nullptr || (by_key ? keys.text(rotary->string, "rope") != "nope" : rotary->boolean);
  const double share = rotary_share(keys);
  if (turned) {
    attention.rotary_dim = keys.count(
        "rotary_dim",
        2 * static_cast<int64_t>(static_cast<double>(attention.head_dim) * share / 2 + 1e-9));
    if (share == 1 && attention.head_dim % 2 != 0) {
      attention.rotary_dim = attention.head_dim;  // refused with its own message
    }
  } else {
    keys.count("rotary_dim");
  }
  attention.causal = !keys.fact_flag("encoder") || keys.fact_flag("causal");
  attention.qkv_bias = keys.said("qkv_bias");
  attention.output_bias = keys.said("output_bias");
  attention.qk_norm = read_qk_norm(keys);
  attention.value_norm = keys.fact_flag("value_norm");
  attention.sinks = keys.fact_flag("sinks");
  attention.output_gate = keys.fact_flag("output_gate");
  keys.flag("attn_output_gate");
  // Baichuan 13B has the bias, and says no max_position_embeddings.
  const bool alibi = keys.flag("alibi") || (keys.fact_flag("alibi_without_positions") &&
                                            keys.take("max_position_embeddings") == nullptr);
  attention.biased = keys.fact_flag("alibi") || alibi;
  attention.rotary_dim = alibi ? 0 : attention.rotary_dim;
  attention.soft_cap = keys.number("attn_logit_softcapping", 0);
  attention.clip = keys.number("clip_qkv", 0);
  return attention;
}

LatentAttention read_latent(Keys& keys, const Shared& shared) {
  LatentAttention latent;
  latent.heads = shared.attention.heads;
  latent.q_rank = keys.count("q_lora_rank");
  latent.kv_rank = keys.size("kv_lora_rank");
  latent.nope_dim = keys.size("qk_nope_head_dim");
  latent.rope_dim = keys.size("qk_rope_head_dim");
  latent.value_dim = keys.size("v_head_dim");
  latent.bias = keys.flag("attention_bias");
  if (keys.fact_flag("indexer")) {
    latent.indexer = Indexer{.heads = keys.size("index_n_heads"),
                             .head_dim = keys.size("index_head_dim"),
                             .topk = keys.size("index_topk")};
  }
  return latent;
}

namespace {

/// The heads of Mamba 2 are as wide as the expansion says; NVIDIA's files say one that nobody uses.
void check_expansion(Keys& keys, const Mamba2& mamba, int64_t hidden) {
  for (const std::string_view key : {"expand", "mamba_expand"}) {
    const bool given = keys.take(key) != nullptr && keys.fact("beside") == nullptr;
    const int64_t inner = keys.count(key) * hidden;
    if (given && inner != mamba.heads * mamba.head_dim && !keys.fact_flag("pattern")) {
      keys.wrong(key,
                 fmt::format("{} times {}", keys.count(key), hidden),
                 fmt::format("{} heads of {}", mamba.heads, mamba.head_dim));
    }
  }
}

}  // namespace

Mixer read_recurrence(Keys& keys, const Shared& shared) {
  if (keys.fact_flag("lightning")) {
    return Lightning{shared.attention.heads, shared.attention.head_dim};
  }
  const std::string beside = keys.fact_text("mixed_recurrence");  // among attention layers
  if (beside == "short") {
    return ShortConv{shared.hidden, keys.size("conv_kernel"), keys.flag("use_conv_bias")};
  }
  if (keys.fact_text("recurrence", beside) == "mamba1") {
    Mamba1 mamba;
    mamba.inner = beside.empty()
                      ? keys.size("intermediate_size", keys.count("expand", 2) * shared.hidden)
                      : keys.count("mamba_expand", 2) * shared.hidden;
    mamba.state = keys.size("state_size");
    mamba.taps = keys.size("conv_kernel");
    mamba.rank = (shared.hidden + 15) / 16;
    if (const Json* rank = keys.take("time_step_rank"); rank != nullptr && rank->string != "auto") {
      mamba.rank = keys.size("time_step_rank");
    }
    mamba.conv_bias = keys.flag("use_conv_bias", true);
    mamba.bias = keys.flag("use_bias");
    mamba.norms =
        !beside.empty() || keys.given("mixer_rms_eps") || keys.text("model_type") == "falcon_mamba";
    return mamba;
  }
  if (keys.given("linear_num_value_heads") || keys.take("linear_num_value_heads") != nullptr) {
    DeltaNet delta;
    delta.k_heads = keys.size("linear_num_key_heads");
    delta.k_dim = keys.size("linear_key_head_dim");
    delta.v_heads = keys.size("linear_num_value_heads");
    delta.v_dim = keys.size("linear_value_head_dim");
    delta.taps = keys.size("linear_conv_kernel_dim");
    return delta;
  }
  Mamba2 mamba;
  mamba.heads = keys.size("mamba_num_heads");
  mamba.head_dim = keys.size("mamba_head_dim");
  mamba.groups = keys.size("n_groups");
  mamba.state = keys.size("ssm_state_size");
  mamba.taps = keys.size("conv_kernel");
  mamba.conv_bias = keys.flag("use_conv_bias", true);
  mamba.bias = keys.flag("use_bias");
  check_expansion(keys, mamba, shared.hidden);
  keys.take("time_step_rank");
  if (keys.fact("beside") != nullptr) {
    mamba.norm = keys.flag("mamba_rms_norm");
    keys.flag("mamba_norm_before_gate");
    if (const int64_t inner = keys.count("mamba_d_ssm"); inner != mamba.heads * mamba.head_dim) {
      keys.wrong("mamba_d_ssm",
                 fmt::format("{}", inner),
                 fmt::format("{} heads of {}", mamba.heads, mamba.head_dim));
    }
  }
  if (const std::string act = keys.text("mamba_hidden_act", "silu"); act != "silu") {
    keys.refuse("mamba_hidden_act", act, "silu");
  }
  return mamba;
}

std::optional<Experts> read_experts(Keys& keys, const Shared& shared) {
  Experts experts;
  if (keys.fact_flag("dense_only")) {  // Hunyuan's dense class passes over what its files say
    for (const std::string_view key :
         {"num_experts", "moe_topk", "num_shared_expert", "moe_intermediate_size"}) {
      keys.take(key);
    }
    return std::nullopt;
  }
  for (const std::string_view key :
       {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"}) {
    const int64_t count = keys.count(key);
    experts.count = experts.count > 0 ? experts.count : count;
  }
  const bool lone = experts.count == 1 && keys.fact_text("mixed_recurrence") == "mamba1";
  if (experts.count == 0 || lone) {  // Jamba: one expert is a dense part
    for (const std::string_view key :
         {"num_experts_per_tok", "expert_layer_period", "expert_layer_offset"}) {
      keys.count(key);
    }
    return std::nullopt;
  }
  for (const std::string_view key : {"num_experts_per_tok",
                                     "moe_top_k",
                                     "experts_per_token",
                                     "num_experts_per_token",
                                     "moe_topk"}) {
    const int64_t count = keys.count(key);
    experts.topk = experts.topk > 0 ? experts.topk : count;
  }
  if (experts.topk == 0) {
    keys.wrong("num_experts_per_tok", "none", "a positive integer");
  }
  experts.width = keys.size("moe_intermediate_size", shared.width);
  experts.gated = shared.dense ? shared.dense->gated : true;
  experts.activation = shared.dense ? shared.dense->activation : graph::OpKind::Silu;
  experts.router_bias = keys.fact_flag("router_bias");
  experts.bias = keys.fact_flag("expert_bias");
  experts.latent = keys.count("moe_latent_size");
  const int64_t shared_count = keys.count("n_shared_experts", keys.count("num_shared_experts"));
  int64_t shared_width = shared_count * experts.width;
  for (const std::string_view key : {"moe_shared_expert_intermediate_size",
                                     "shared_expert_intermediate_size",
                                     "shared_intermediate_size"}) {
    if (keys.take(key) != nullptr) {
      shared_width = keys.count(key);
    }
  }
  experts.shared_width = keys.fact_flag("shared_as_experts") ? shared.width : shared_width;
  experts.shared_gate = keys.fact_flag("shared_gate") && experts.shared_width > 0;
  keys.text("shared_moe_mode");
  keys.flag("use_routing_bias");
  return experts;
}

}  // namespace orrery::frontend
