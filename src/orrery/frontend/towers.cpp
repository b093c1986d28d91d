// Towers of images and sound beside a text model: encoders of patches with a projection at the end.
// SPDX-License-Identifier: Apache-2.0
//
// Source: transformers 5.24, the vision and audio classes of each family's modeling_*.py.
#include <algorithm>
#include <array>

#include "orrery/base/text.h"
#include "orrery/frontend/huggingface_internal.h"

namespace orrery::frontend {

namespace {

/// How a tower ends, before the text model.
enum class End {
  TwoLayers,  // gelu between them (LLaVA)
  Normed,     // a norm, one matrix (Gemma 3)
  One,        // one matrix (Gemma 4, Llama 3.2)
  Merged,     // four neighbours joined, two layers (Qwen, Kimi)
  Shuffled,   // four neighbours joined, two layers, one matrix (Llama 4)
  Joined,     // neighbours joined, one matrix without a bias (Idefics 3, SmolVLM)
  Opened,     // four neighbours joined, a norm, two layers (InternVL)
  Patched,    // a norm, four neighbours joined to one as wide, two layers (Mistral 3)
  Plain,      // one matrix without a bias, as wide as the text's (CLIP)
  Probed,     // attention of one learned query (SigLIP): counted, not timed
  Halved,     // the mean of two neighbours, one matrix (Qwen 2 Audio)
  Sound       // four neighbours joined, two matrices (Voxtral)
};

struct Tower {
  std::string_view types;  // of the tower or of the whole model
  End end;
  NormKind norm = NormKind::Layer;
  bool gated = false;
  bool bias = true;
  bool class_token = false;
  bool rotary = false;          // and images of any size
  std::string_view roots = "";  // whole models whose connector it is; all, if empty
};

/// The first row that names the tower or the whole model is taken.
constexpr std::array kTowers = {
    Tower{"llava_onevision", End::TwoLayers},
    Tower{"clip", End::Plain, NormKind::Layer, false, true, true},
    Tower{"siglip", End::Probed},
    Tower{"paligemma", End::One},
    Tower{"idefics3 smolvlm", End::Joined},
    Tower{"internvl internvl_chat", End::Opened, NormKind::Layer, false, true, true},
    Tower{"mistral3", End::Patched, NormKind::Rms, true, false, false, true},
    Tower{"qwen2_audio", End::Halved},
    Tower{"pixtral", End::TwoLayers, NormKind::Rms, true, false, false, true, "llava"},
    Tower{"clip_vision_model",
          End::TwoLayers,
          NormKind::Layer,
          false,
          true,
          true,
          false,
          "llava llava_next llava_next_video"},
    Tower{"siglip_vision_model", End::Normed, NormKind::Layer, false, true, false, false, "gemma3"},
    Tower{"gemma4_vision", End::One, NormKind::Rms, true, false},
    Tower{"qwen2_vl", End::Merged},
    Tower{"qwen2_5_vl", End::Merged, NormKind::Rms, true},
    Tower{"qwen3_vl qwen3_vl_moe qwen3_5 qwen3_5_moe", End::Merged},
    Tower{"kimi_k25", End::Merged},
    Tower{"llama4_vision_model", End::Shuffled, NormKind::Layer, false, true, true},
    Tower{"mllama_vision_model", End::One, NormKind::Layer, false, false, true},
    Tower{"voxtral_encoder", End::Sound},
};

/// The integer under the first of `keys` that is there; 0 if none is.
int64_t first_of(const Json& config, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const Json* value = config.find(key);
    const bool listed = value != nullptr && value->kind == Json::Kind::Array;
    const Json* number = listed && !value->items.empty() ? &value->items[0] : value;
    if (number != nullptr && number->kind == Json::Kind::Integer && number->integer > 0) {
      return number->integer;
    }
  }
  return 0;
}

/// The width of the feed-forward in widths of the tower; 0 if that is not said.
int64_t ratio_of(const Json& config) {
  const Json* value = config.find("mlp_ratio");
  return value == nullptr ? 0 : static_cast<int64_t>(value->decimal);
}

/// The defaults of the towers' classes where their object says nothing.
Json with_defaults(const Json& config) {
  Json full = config;
  const Json* type = config.find("model_type");
  const std::string name = type == nullptr ? "" : type->string;
  const bool clip = name == "clip_vision_model";
  if (!clip && name != "siglip_vision_model") {
    return full;
  }
  for (const auto& [key, value] : std::initializer_list<std::pair<std::string_view, int64_t>>{
           {"hidden_size", 768},
           {"intermediate_size", 3072},
           {"num_hidden_layers", 12},
           {"num_attention_heads", 12},
           {"image_size", 224},
           {"patch_size", clip ? 32 : 16}}) {
    if (config.find(key) == nullptr) {
      Json number;
      number.kind = Json::Kind::Integer;
      number.integer = value;
      number.decimal = static_cast<double>(value);
      full.members.push_back({std::string(key), std::move(number)});
    }
  }
  return full;
}

bool is_size(const Json& value) {
  constexpr double kMost = 1 << 24;
  const bool number = value.kind == Json::Kind::Integer || value.kind == Json::Kind::Decimal;
  return number && value.decimal > 0 && value.decimal <= kMost;
}

/// Sizes of a tower: numbers over 0 or lists of such. False adds a complaint.
void check_sizes(std::string_view path, const Json& config, Complaints& complaints) {
  static constexpr std::string_view kSizes[] = {"hidden_size",
                                                "embed_dim",
                                                "num_heads",
                                                "num_attention_heads",
                                                "depth",
                                                "num_hidden_layers",
                                                "image_size",
                                                "patch_size",
                                                "intermediate_size",
                                                "mlp_ratio",
                                                "temporal_patch_size",
                                                "encoder_layers",
                                                "encoder_attention_heads",
                                                "encoder_ffn_dim",
                                                "d_model",
                                                "num_position_embeddings",
                                                "max_source_positions",
                                                "num_mel_bins",
                                                "position_embedding_size",
                                                "max_num_tiles",
                                                "vision_output_dim",
                                                "num_global_layers"};
  for (const std::string_view key : kSizes) {
    const Json* value = config.find(key);
    if (value == nullptr || value->is_null()) {
      continue;
    }
    const bool list = value->kind == Json::Kind::Array && !value->items.empty();
    const bool fits =
        list ? std::all_of(value->items.begin(), value->items.end(), is_size) : is_size(*value);
    if (!fits) {
      complaints.wrong.push_back(
          fmt::format("{}.{}: got {}, need a size of 1 to 2^24", path, key, value->to_text()));
    }
  }
}

std::vector<Projection> projections(End end, int64_t hidden, int64_t text, bool bias) {
  const auto gelu = graph::OpKind::Gelu;
  switch (end) {
    case End::TwoLayers:
      return {{.width = text, .activation = gelu}, {.width = text}};
    case End::Normed:
      return {{.width = text, .bias = false, .norm_before = true}};
    case End::One:
      return {{.width = text, .bias = bias}};
    case End::Merged:
      return {{.width = 4 * hidden, .activation = gelu, .norm_before = true, .merged = 4},
              {.width = text}};
    case End::Shuffled:
      return {{.width = 4096, .bias = false, .activation = gelu, .merged = 4},
              {.width = 4096, .bias = false, .activation = gelu},
              {.width = text, .bias = false}};
    case End::Joined:
      return {{.width = text, .bias = false}};  // how many are joined is set by the caller
    case End::Opened:
      return {{.width = text, .activation = gelu, .norm_before = true, .merged = 4},
              {.width = text}};
    case End::Patched:
      return {{.width = hidden, .bias = false, .norm_before = true, .merged = 4},
              {.width = text, .bias = false, .activation = gelu},
              {.width = text, .bias = false}};
    case End::Plain:
      return {{.width = text, .bias = false}};
    case End::Probed:
      return {};
    case End::Halved:
      return {{.width = text, .pooled = 2}};
    case End::Sound:
      return {{.width = text, .bias = false, .activation = gelu, .merged = 4},
              {.width = text, .bias = false}};
  }
  ORR_UNREACHABLE();
}

/// Sizes of patches and of the tables of positions.
void read_patches(const Json& config, const Tower& tower, Model& model) {
  Input& input = model.input;
  if (tower.end == End::Sound || tower.end == End::Halved) {
    input.patches = first_of(config, {"max_source_positions"});
    input.positions = input.patches;
    input.patch_width = 3 * first_of(config, {"num_mel_bins"});
    input.halved = true;
    return;
  }
  const int64_t patch = std::max<int64_t>(first_of(config, {"patch_size"}), 1);
  const int64_t side = tower.rotary ? 0 : first_of(config, {"image_size"}) / patch;
  const int64_t frames = std::max<int64_t>(first_of(config, {"temporal_patch_size"}), 1);
  constexpr int64_t kUsual = 1024;  // patches of an image whose size is free
  input.class_token = tower.class_token;
  input.patches = side > 0 ? side * side : kUsual;
  input.patch_width = 3 * frames * patch * patch;
  const int64_t rows = first_of(config, {"num_position_embeddings"});
  input.positions = side > 0 ? side * side + (tower.class_token ? 1 : 0) : rows;
}

/// What the operators of the graph do not hold: more mergers of Qwen 3 VL, Gemma's table for both
/// axes, Llama 3.2's positions of tiles.
int64_t extra_of(const Json& config, const Tower& tower, int64_t hidden, int64_t text) {
  int64_t extra = 0;
  if (const Json* levels = config.find("deepstack_visual_indexes")) {
    const int64_t merged = 4 * hidden;
    extra += static_cast<int64_t>(levels->items.size()) *
             (merged * (merged + 1) + text * (merged + 1) + 2 * merged);
  }
  if (const int64_t rows = first_of(config, {"position_embedding_size"}); tower.end == End::One) {
    extra += 2 * rows * hidden;
  }
  const int64_t tiles = first_of(config, {"max_num_tiles"});
  const int64_t patches =
      first_of(config, {"image_size"}) / std::max<int64_t>(first_of(config, {"patch_size"}), 1);
  constexpr int64_t kAspects = 9;  // of the ways to lay out up to four tiles, and one for none
  return extra + kAspects * tiles * (patches * patches + 3) * hidden;
}

/// Patches whose mean is one token of the text: of a square of theirs (Gemma 4), or so that an
/// image has as many tokens as the whole model's file says (Gemma 3).
void read_pooling(const Json& root, const Json& config, Model& tower) {
  const int64_t side = first_of(config, {"pooling_kernel_size"});
  const int64_t tokens = first_of(root, {"mm_tokens_per_image", "vision_soft_tokens_per_image"});
  if (tower.head.before.empty() || tokens == 0) {
    return;
  }
  if (side > 0) {
    tower.head.before[0].pooled = side * side;
    tower.input.patches = tokens * side * side;
  } else {
    tower.head.before[0].pooled = std::max<int64_t>(1, tower.input.patches / tokens);
  }
}

int64_t width_of(const Json& config) {
  return first_of(config, {"intermediate_size", "encoder_ffn_dim", "vt_intermediate_size"});
}

/// InternVL's large tower has RMS norms, of queries and keys too.
bool normed_otherwise(const Json& config) {
  const Json* kind = config.find("norm_type");
  const auto on = [&config](std::string_view key) {
    const Json* value = config.find(key);
    return value != nullptr && value->boolean;
  };
  return (kind != nullptr && kind->string != "layer_norm") || on("qk_normalization") ||
         on("use_qk_norm");
}

Layer tower_layer(const Json& config, const Tower& tower, int64_t hidden, int64_t heads) {
  Layer layer;
  const int64_t head_dim = hidden / heads;
  const int64_t ratio = ratio_of(config);
  layer.mixer = Attention{.heads = heads,
                          .kv_heads = heads,
                          .head_dim = head_dim,
                          .value_dim = head_dim,
                          .rotary_dim = tower.rotary ? head_dim : 0,
                          .causal = false,
                          .qkv_bias = tower.bias,
                          .output_bias = tower.bias};
  layer.dense = Dense{.width = ratio > 0 ? ratio * hidden : width_of(config),
                      .gated = tower.gated,
                      .bias = tower.bias || tower.end == End::One,
                      .activation = graph::OpKind::Gelu};
  return layer;
}

/// What stands between the tower's stack and the text.
void end_tower(const Json& root, const Json& config, const Tower& tower, Model& model, Model& own) {
  const int64_t text = model.hidden;
  own.head.logits = false;
  own.head.wanted = Wanted::All;
  own.head.before = projections(tower.end, own.hidden, text, tower.bias);
  read_pooling(root, config, own);
  if (tower.end == End::Plain) {
    own.head.before[0].width =
        std::max<int64_t>(first_of(root, {"projection_dim"}),
                          model.head.before.empty() ? 1 : model.head.before[0].width);
  }
  const Json* probe = config.find("vision_use_head");
  if (tower.end == End::Probed && (probe == nullptr || probe->boolean)) {
    own.extra_parameters = 4 * own.hidden * (own.hidden + 1) +
                           width_of(config) * (2 * own.hidden + 1) + 4 * own.hidden;
    model.notes.emplace_back("the head that pools an image's patches is counted but not timed");
  }
  if (tower.end == End::Joined) {
    const int64_t side = std::max<int64_t>(first_of(root, {"scale_factor"}), 1);
    own.head.before[0].merged = side * side;
  }
  if (const int64_t outputs = first_of(config, {"max_num_tiles"});
      outputs > 0 && !own.head.before.empty()) {
    own.head.before[0].bias = true;
    // The projection reads several layers' results side by side.
    own.extra_parameters = (first_of(config, {"vision_output_dim"}) - own.hidden) * text;
  }
}

void read_tower(const Json& root, const Json& config, const Tower& tower, Model& model) {
  Model own;
  own.name = model.name + " tower";
  own.family = tower.types;
  own.dtype = model.dtype;
  own.norm = tower.norm;
  own.decodes = false;
  own.hidden = first_of(config, {"embed_dim", "vt_hidden_size", "d_model", "hidden_size"});
  const int64_t heads = first_of(config,
                                 {"num_heads",
                                  "num_attention_heads",
                                  "attention_heads",
                                  "encoder_attention_heads",
                                  "vt_num_attention_heads"});
  const int64_t layers =
      first_of(config, {"depth", "num_hidden_layers", "encoder_layers", "vt_num_hidden_layers"}) +
      first_of(config, {"num_global_layers"});
  if (own.hidden == 0 || heads == 0 || layers == 0 || layers > 1024) {
    model.notes.emplace_back("a tower is neither timed nor counted: its sizes are not given");
    return;
  }
  own.stack.groups = {{layers, {tower_layer(config, tower, own.hidden, heads)}}};
  own.stack.final_norm = tower.end != End::Merged;
  read_patches(config, tower, own);
  end_tower(root, config, tower, model, own);
  own.extra_parameters += extra_of(config, tower, own.hidden, model.hidden);
  model.towers.push_back(std::move(own));
}

}  // namespace

void read_towers(const Json& config, Model& model, Complaints& complaints) {
  for (const std::string_view key : {"vision_config", "audio_config"}) {
    const Json* tower = config.find(key);
    if (tower == nullptr || tower->is_null()) {
      continue;
    }
    if (!tower->is_object()) {
      complaints.wrong.push_back(fmt::format("{}: got {}, need an object", key, tower->to_text()));
      continue;
    }
    check_sizes(key, *tower, complaints);
    if (!complaints.wrong.empty()) {
      return;
    }
    const Json* type = tower->find("model_type");
    const auto among = [](std::string_view list, std::string_view name) {
      return !name.empty() && (" " + std::string(list) + " ").find(" " + std::string(name) + " ") !=
                                  std::string::npos;
    };
    const auto found = std::find_if(kTowers.begin(), kTowers.end(), [&](const Tower& each) {
      const bool named =
          among(each.types, type != nullptr ? type->string : "") || among(each.types, model.family);
      return named && !(each.end == End::Opened && normed_otherwise(*tower)) &&
             (each.roots.empty() || among(each.roots, model.family));
    });
    if (found == kTowers.end()) {
      model.notes.push_back(std::string(key) + ": the tower is neither timed nor counted");
    } else {
      read_tower(config, with_defaults(*tower), *found, model);
      if (config.find("image_grid_pinpoints") != nullptr ||
          config.find("max_dynamic_patch") != nullptr) {
        model.notes.emplace_back("an image is one tile of its tower; the model cuts large ones");
      }
    }
  }
}

}  // namespace orrery::frontend
