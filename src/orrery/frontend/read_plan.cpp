// Which layer does what: windows, recurrences, experts, layers without rotary embedding.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/base/text.h"
#include "orrery/frontend/read_layers_internal.h"

namespace orrery::frontend {

namespace {

using Plans = std::vector<LayerPlan>;

/// Entries of layer_types and its like.
std::optional<MixerKind> mixer_named(std::string_view name) {
  if (name == "full_attention" || name == "attention" || name == "global" ||
      name == "deepseek_sparse_attention") {
    return MixerKind::Full;
  }
  if (name == "sliding_attention" || name == "local") {
    return MixerKind::Sliding;
  }
  if (name == "chunked_attention") {
    return MixerKind::Chunked;
  }
  if (name == "linear_attention" || name == "mamba" || name == "lightning_attention" ||
      name == "conv") {
    return MixerKind::Recurrent;
  }
  return std::nullopt;
}

/// layer_types: a mixer a layer.
bool plan_by_types(Keys& keys, Plans& plans) {
  const auto layers = static_cast<int64_t>(plans.size());
  const Json* types = keys.list("layer_types", layers);
  keys.take("attention_types");
  const Json* older = keys.list("attention_layers", layers);
  types = types != nullptr ? types : older;
  if (types == nullptr) {
    return false;
  }
  for (size_t i = 0; i < plans.size(); ++i) {
    const auto kind = mixer_named(types->items[i].string);
    if (!kind) {
      keys.refuse("layer_types",
                  types->items[i],
                  "full_attention, sliding_attention, chunked_attention, linear_attention or "
                  "mamba");
      return true;
    }
    plans[i].mixer = *kind;
  }
  return true;
}

/// Lists of zeros and ones, of which `ones` are of a kind of their own.
bool plan_by_list(Keys& keys, std::string_view key, MixerKind zero, MixerKind one, Plans& plans) {
  const Json* list = keys.integers(key, static_cast<int64_t>(plans.size()));
  if (list == nullptr) {
    return false;
  }
  for (size_t i = 0; i < plans.size(); ++i) {
    plans[i].mixer = list->items[i].integer == 1 ? one : zero;
  }
  return true;
}

/// attn_layer_indices: the layers with attention among recurrent ones.
bool plan_by_indices(Keys& keys, Plans& plans) {
  const Json* older = keys.indices("full_attn_idxs");
  const Json* full = keys.indices("attn_layer_indices");
  full = full != nullptr ? full : older;
  if (full == nullptr && !keys.fact_flag("recurrent_unless_listed")) {
    return false;
  }
  for (size_t i = 0; i < plans.size(); ++i) {
    const bool holds =
        full != nullptr && std::any_of(full->items.begin(), full->items.end(), [i](const Json& at) {
          return at.integer == static_cast<int64_t>(i);
        });
    plans[i].mixer = holds ? MixerKind::Full : MixerKind::Recurrent;
  }
  return true;
}

/// Jamba: attention every so many layers, from one on; recurrences else.
bool plan_by_period(Keys& keys, Plans& plans) {
  if (keys.take("attn_layer_period") == nullptr) {
    return false;
  }
  const int64_t period = std::max<int64_t>(keys.size("attn_layer_period"), 1);
  const int64_t offset = keys.count("attn_layer_offset");
  for (size_t i = 0; i < plans.size(); ++i) {
    const bool full = static_cast<int64_t>(i) % period == offset;
    plans[i].mixer = full ? MixerKind::Full : MixerKind::Recurrent;
  }
  return true;
}

/// A letter or a word a layer, each of which has but one part: mixer or feed-forward.
void plan_by_pattern(Keys& keys, Plans& plans) {
  const Json* pattern = keys.take("hybrid_override_pattern");
  if (pattern == nullptr) {
    keys.wrong("hybrid_override_pattern", "none", "a letter for each layer");
    return;
  }
  const bool text = pattern->kind == Json::Kind::String;
  const size_t given = text ? pattern->string.size() : pattern->items.size();
  if (given != plans.size()) {
    keys.wrong("hybrid_override_pattern",
               fmt::format("{} letters", given),
               fmt::format("{}, one for each layer", plans.size()));
    return;
  }
  for (size_t i = 0; i < plans.size(); ++i) {
    const std::string kind = text ? pattern->string.substr(i, 1) : pattern->items[i].string;
    LayerPlan& plan = plans[i];
    plan = {MixerKind::None, false, false, false};
    if (kind == "M" || kind == "linear_attention" || kind == "mamba") {
      plan.mixer = MixerKind::Recurrent;
    } else if (kind == "*" || kind == "full_attention" || kind == "attention") {
      plan.mixer = MixerKind::Full;
    } else if (kind == "E" || kind == "moe") {
      plan.experts = true;
    } else if (kind == "-" || kind == "mlp") {
      plan.dense = true;
    } else {
      keys.refuse("hybrid_override_pattern", kind, "M, *, E or -");
      return;
    }
  }
}

void all_sliding(Plans& plans) {
  for (LayerPlan& plan : plans) {
    plan.mixer = MixerKind::Sliding;
  }
}

/// Windows where no list says which layers have them.
void plan_windows(Keys& keys, int64_t window, Plans& plans) {
  const std::string rule = keys.fact_text("window", "none");
  const bool periodic = rule == "period" || rule == "first_full";
  const int64_t period = periodic ? keys.size("sliding_window_pattern", 1) : 2;
  const bool on = rule != "flag" || keys.flag("use_sliding_window");
  if (window == 0 || !on) {
    return;
  }
  if (rule == "all") {
    all_sliding(plans);
    return;
  }
  const int64_t first = rule == "flag" ? keys.count("max_window_layers") : 0;
  for (size_t i = 0; i < plans.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const bool sliding = rule == "flag"         ? at >= first
                         : rule == "alternate"  ? at % 2 == 0
                         : rule == "period"     ? (at + 1) % std::max<int64_t>(period, 1) != 0
                         : rule == "first_full" ? at % std::max<int64_t>(period, 1) != 0
                                                : false;
    plans[i].mixer = sliding ? MixerKind::Sliding : plans[i].mixer;
  }
  if (rule == "none") {
    keys.refuse("sliding_window", fmt::format("{}", window), "none");
  }
}

void plan_mixers(Keys& keys, const Shared& shared, Plans& plans) {
  if (keys.fact_flag("pattern")) {
    plan_by_pattern(keys, plans);
    return;
  }
  if (keys.fact("recurrence") != nullptr) {
    for (LayerPlan& plan : plans) {
      plan = {MixerKind::Recurrent, false, false, false};
    }
    return;
  }
  if (keys.fact_text("mixed_recurrence") == "short") {
    keys.take("conv_kernel");
    keys.take("use_conv_bias");
    if (keys.count("num_heads", shared.attention.heads) != shared.attention.heads) {
      keys.refuse("num_heads", *keys.take("num_heads"), "as many as num_attention_heads");
    }
  }
  const bool listed =
      plan_by_types(keys, plans) || plan_by_indices(keys, plans) || plan_by_period(keys, plans) ||
      plan_by_list(keys,
                   "attn_type_list",
                   keys.fact_flag("lightning") ? MixerKind::Recurrent : MixerKind::Full,
                   MixerKind::Full,
                   plans) ||
      plan_by_list(keys, "hybrid_layer_pattern", MixerKind::Full, MixerKind::Sliding, plans);
  if (const Json* interval = keys.fact("linear_interval")) {
    const int64_t every = keys.size("full_attention_interval", interval->integer);
    for (size_t i = 0; i < plans.size() && !listed; ++i) {
      plans[i].mixer = (static_cast<int64_t>(i) + 1) % std::max<int64_t>(every, 1) == 0
                           ? MixerKind::Full
                           : MixerKind::Recurrent;
    }
  }
  if (!listed) {
    plan_windows(keys, shared.window, plans);
  } else {
    keys.flag("use_sliding_window");
    for (const std::string_view key :
         {"sliding_window_pattern", "max_window_layers", "full_attn_idxs", "attn_layer_indices"}) {
      keys.take(key);
    }
  }
}

/// Layers without rotary embedding: every n-th, or those with full attention beside windows.
void plan_rotary(Keys& keys, Plans& plans) {
  const std::string rule = keys.fact_text("nope", "none");
  if (rule == "full") {
    const bool windows = std::any_of(plans.begin(), plans.end(), [](const LayerPlan& plan) {
      return plan.mixer == MixerKind::Sliding;
    });
    for (LayerPlan& plan : plans) {
      plan.rotary = !windows || plan.mixer == MixerKind::Sliding;
    }
  }
  if (rule != "interval") {
    return;
  }
  const int64_t every = keys.size("no_rope_layer_interval", 4);
  const Json* list = keys.integers("no_rope_layers", static_cast<int64_t>(plans.size()));
  for (size_t i = 0; i < plans.size(); ++i) {
    plans[i].rotary = list != nullptr
                          ? list->items[i].integer == 1
                          : (static_cast<int64_t>(i) + 1) % std::max<int64_t>(every, 1) != 0;
  }
}

/// Ernie's layers with experts: from one on to another, every so many; Jamba's from one on.
bool in_range(Keys& keys, int64_t layer) {
  const Json* last = keys.take("moe_layer_end_index");
  const int64_t end = last != nullptr && last->integer >= 0 ? last->integer : kMostLayers;
  const int64_t every = std::max<int64_t>(keys.size("moe_layer_interval", 1), 1);
  const int64_t period = std::max<int64_t>(keys.size("expert_layer_period", 1), 1);
  return layer >= keys.count("moe_layer_start_index") && layer <= end && (layer + 1) % every == 0 &&
         layer % period == keys.count("expert_layer_offset");
}

/// Which layers have experts: the first k dense, every s-th, a list, or all.
void plan_experts(Keys& keys, Plans& plans) {
  const auto layers = static_cast<int64_t>(plans.size());
  const int64_t first = keys.count("first_k_dense_replace");
  const int64_t step = keys.size("decoder_sparse_step", keys.size("interleave_moe_layer_step", 1));
  const Json* frequency = keys.take("moe_layer_freq");
  const bool by_layer = frequency != nullptr && frequency->kind == Json::Kind::Array;
  const Json* flags = by_layer ? keys.integers("moe_layer_freq", layers) : nullptr;
  const int64_t every = by_layer ? 1 : keys.size("moe_layer_freq", 1);
  const Json* types = keys.list("mlp_layer_types", layers);
  const Json* only = keys.indices("mlp_only_layers");
  const Json* moe = keys.indices("moe_layers");
  const auto holds = [](const Json* list, int64_t layer) {
    return list != nullptr && std::any_of(list->items.begin(), list->items.end(), [layer](auto& i) {
             return i.integer == layer;
           });
  };
  for (size_t i = 0; i < plans.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const bool sparse = types != nullptr   ? types->items[i].string == "sparse"
                        : flags != nullptr ? flags->items[i].integer == 1
                        : moe != nullptr && !moe->items.empty()
                            ? holds(moe, at)
                            : at >= first && (at + 1) % std::max<int64_t>(step, 1) == 0 &&
                                  at % std::max<int64_t>(every, 1) == 0 && !holds(only, at) &&
                                  in_range(keys, at);
    plans[i].experts = sparse;
    plans[i].dense = !sparse;
  }
}

}  // namespace

std::vector<LayerPlan> read_plan(Keys& keys, const Shared& shared) {
  Plans plans(static_cast<size_t>(std::clamp<int64_t>(shared.layers, 0, kMostLayers)));
  plan_mixers(keys, shared, plans);
  plan_rotary(keys, plans);
  if (shared.experts && !keys.fact_flag("pattern")) {
    if (keys.fact_flag("experts_beside_dense")) {
      for (LayerPlan& plan : plans) {
        plan.experts = true;
      }
    } else {
      plan_experts(keys, plans);
    }
  }
  return plans;
}

}  // namespace orrery::frontend
