// The reader of config.json: one for all families.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/huggingface.h"

#include <algorithm>
#include <cmath>

#include "orrery/frontend/config_keys.h"
#include "orrery/frontend/config_parts_internal.h"
#include "orrery/frontend/huggingface_internal.h"
#include "orrery/frontend/json.h"
#include "orrery/frontend/read_layers_internal.h"

namespace orrery::frontend {

double read_epsilon(Keys& keys) {
  double epsilon = 1e-6;
  for (const std::string_view key : {"rms_norm_eps",
                                     "layer_norm_eps",
                                     "layer_norm_epsilon",
                                     "norm_eps",
                                     "norm_epsilon",
                                     "layernorm_epsilon"}) {
    epsilon = keys.number(key, epsilon);
    if (!(epsilon >= 0 && epsilon < 1)) {
      keys.wrong(key, fmt::format("{}", epsilon), "at least 0, below 1");
      epsilon = 0;
    }
  }
  return epsilon;
}

DType read_dtype(Keys& keys, std::optional<DType> missing) {
  const Json* value = keys.take("torch_dtype");
  const Json* renamed = keys.take("dtype");  // since transformers 4.56
  value = value != nullptr ? value : renamed;
  if (value == nullptr || value->string == "auto") {
    return missing.value_or(DType::BF16);
  }
  const Result<DType> dtype = parse_dtype(value->string);
  const bool computes =
      dtype.ok() && (*dtype == DType::BF16 || *dtype == DType::F16 || *dtype == DType::F32);
  if (!computes) {
    keys.wrong("torch_dtype", value->to_text(), "bfloat16, float16 or float32");
    return DType::BF16;
  }
  return *dtype;
}

namespace {

NormKind read_norm(Keys& keys) {
  const std::string kind = keys.fact_text("norm", "rms");
  return kind == "layer"             ? NormKind::Layer
         : kind == "layer_no_bias"   ? NormKind::LayerNoBias
         : kind == "layer_no_weight" ? NormKind::LayerNoWeight
                                     : NormKind::Rms;
}

NormOrder read_order(Keys& keys) {
  const std::string order = keys.fact_text("order", "pre");
  if (keys.fact("pre_norm") != nullptr && !keys.said("pre_norm")) {
    return NormOrder::AfterSum;
  }
  keys.flag("postnorm");
  if (keys.fact("norm_after_too") != nullptr && keys.said("norm_after_too")) {
    return NormOrder::Both;
  }
  return order == "post"          ? NormOrder::Post
         : order == "both"        ? NormOrder::Both
         : order == "after"       ? NormOrder::AfterSum
         : order == "from_normed" ? NormOrder::FromNormed
                                  : NormOrder::Pre;
}

/// LFM2: two thirds of the width, times a factor, rounded up to a multiple.
int64_t rounded_width(Keys& keys, int64_t width) {
  if (!keys.fact_flag("rounded_width") || !keys.flag("block_auto_adjust_ff_dim")) {
    return width;
  }
  const double factor = keys.number("block_ffn_dim_multiplier", 1);
  const int64_t multiple = std::max<int64_t>(keys.size("block_multiple_of"), 1);
  if (!(factor > 0 && factor < 1000)) {
    keys.wrong("block_ffn_dim_multiplier", fmt::format("{}", factor), "over 0, below 1000");
    return width;
  }
  const int64_t two_thirds = 2 * width / 3;
  const auto wide = static_cast<int64_t>(factor * static_cast<double>(two_thirds));
  return (wide + multiple - 1) / multiple * multiple;
}

Shared read_shared(Keys& keys) {
  Shared shared;
  const Json* pattern = keys.take("hybrid_override_pattern");  // may say it alone
  shared.layers = pattern == nullptr || keys.take("num_hidden_layers") != nullptr
                      ? keys.size("num_hidden_layers")
                      : static_cast<int64_t>(pattern->items.size() + pattern->string.size());
  if (shared.layers > kMostLayers) {
    keys.wrong("num_hidden_layers",
               fmt::format("{}", shared.layers),
               fmt::format("at most {}", kMostLayers));
    shared.layers = 0;
  }
  shared.hidden = keys.size("hidden_size");
  shared.order = read_order(keys);
  if (keys.fact("recurrence") != nullptr) {
    read_activation(keys, "hidden_act", "silu");
    return shared;
  }
  shared.attention = read_attention(keys, shared.hidden);
  shared.window = keys.count("sliding_window");
  const Json* ratio = keys.fact("mlp_ratio");
  const int64_t share = keys.count("expansion_ratio", ratio != nullptr ? ratio->integer : 0);
  Dense dense;
  if (keys.fact_flag("pattern") || keys.fact_flag("blocks")) {
    dense.width = keys.count("intermediate_size", 0);
  } else {
    const int64_t lone = keys.count("shared_intermediate_size");
    const bool experts_only = keys.take("moe_intermediate_size") != nullptr;
    dense.width =
        share > 0      ? keys.size("intermediate_size", share * shared.hidden)
        : experts_only ? keys.size("intermediate_size", keys.size("moe_intermediate_size"))
        : lone > 0 && keys.count("num_local_experts") == 0 ? lone
                                                           : keys.size("intermediate_size");
  }
  dense.width = keys.fact_flag("halved_width") ? dense.width / 2 : dense.width;
  dense.width = rounded_width(keys, dense.width);
  const Json* gated = keys.fact("gated");
  dense.gated = gated == nullptr || gated->boolean;
  dense.bias = keys.said("mlp_bias");
  dense.activation = read_activation(keys, "hidden_act", "silu");
  shared.width = dense.width;
  shared.dense = dense;
  shared.experts = read_experts(keys, shared);
  return shared;
}

void read_input(Keys& keys, Model& model) {
  Input& input = model.input;
  input.vocabulary = keys.size("vocab_size");
  model.most_positions = keys.count("max_position_embeddings");
  if (const Json* beyond = keys.fact("positions")) {
    input.positions = model.most_positions + beyond->integer;
  } else if (keys.fact_flag("fixed_positions")) {
    input.positions = model.most_positions;
    input.learned = false;
  }
  keys.text("position_embedding_type");
  const int64_t row = keys.count("embedding_size");
  input.width = row == model.hidden ? 0 : row;
  if (keys.fact_flag("types")) {
    input.types = keys.count("type_vocab_size");
  }
  input.norm = keys.fact_flag("embedding_norm");
  input.scale = keys.number("embedding_multiplier", 1);
  const bool scaled = keys.flag("mup_enabled") ||
                      (keys.fact_flag("scaled_embedding") && keys.flag("scale_embedding"));
  if (scaled || keys.fact_text("embedding_scale") == "sqrt") {
    input.scale = std::sqrt(static_cast<double>(model.hidden));
  }
}

/// Classes of id2label; `missing` if it is not there.
int64_t label_count(Keys& keys, int64_t missing) {
  const Json* labels = keys.take("id2label");
  if (labels == nullptr) {
    return missing;
  }
  if (!labels->is_object()) {
    keys.wrong("id2label", *labels, "an object");
    return missing;
  }
  return static_cast<int64_t>(std::max<size_t>(labels->members.size(), 1));
}

/// Rows of patches and the class token of a vision transformer; a pooler if the model ends there.
void read_image(Keys& keys, std::string_view architecture, Model& model) {
  const int64_t size = keys.size("image_size");
  const int64_t patch = std::max<int64_t>(keys.size("patch_size"), 1);
  model.input.patches = (size / patch) * (size / patch);
  model.input.patch_width = keys.size("num_channels", 3) * patch * patch;
  model.input.class_token = true;
  model.input.positions = model.input.patches + 1;
  model.head.logits = false;
  model.head.wanted = Wanted::First;
  if (architecture.ends_with("Model")) {
    model.head.before = {{.width = model.hidden, .activation = graph::OpKind::Tanh}};
  } else if (const int64_t labels = label_count(keys, 0); labels > 0) {
    model.head.before = {{.width = labels}};
  }
  keys.count("pooler_output_size");
  keys.text("pooler_act");
}

/// The head of an encoder, by its class: masked tokens, a classification, or none.
void read_encoder_head(Keys& keys, std::string_view architecture, Model& model) {
  Head& head = model.head;
  model.decodes = false;
  const int64_t row = model.input.width > 0 ? model.input.width : model.hidden;
  if (architecture.ends_with("ForMaskedLM") && keys.fact_flag("plain_head")) {
    head.wanted = Wanted::All;
    head.tied = keys.flag("tie_word_embeddings");
    return;
  }
  if (architecture.ends_with("ForMaskedLM")) {
    head.wanted = Wanted::All;
    head.before = {{.width = row,
                    .activation = read_activation(keys, "hidden_act", "gelu"),
                    .norm_after = true}};
    head.tied = true;
    head.bias = true;
    return;
  }
  head.logits = false;
  head.wanted = Wanted::First;
  if (keys.fact("projected") != nullptr) {
    head.wanted = Wanted::Last;
    head.before = {{.width = keys.size(keys.fact_text("projected"), model.hidden),
                    .bias = keys.fact_flag("projected_bias")}};
  } else if (architecture.ends_with("ForSequenceClassification")) {
    const int64_t count = label_count(keys, 2);
    head.before = {{.width = model.hidden, .activation = graph::OpKind::Tanh}, {.width = count}};
  } else if (architecture.ends_with("ForPreTraining") && keys.fact_flag("discriminator")) {
    head.wanted = Wanted::All;
    head.before = {
        {.width = model.hidden, .activation = read_activation(keys, "hidden_act", "gelu")},
        {.width = 1}};
  } else if (keys.fact_flag("pooler")) {
    head.before = {{.width = model.hidden, .activation = graph::OpKind::Tanh}};
  }
}

void read_head(Keys& keys,
               std::string_view architecture,
               std::optional<bool> tied_outside,
               Model& model) {
  Head& head = model.head;
  // Of a text part and the whole around it, either may tie.
  const bool given = keys.given("tie_word_embeddings");
  const bool inside = keys.flag("tie_word_embeddings");
  head.tied = given ? inside || tied_outside.value_or(false) : tied_outside.value_or(inside);
  head.bias = keys.said("head_bias");
  if (architecture.ends_with("ForSequenceClassification")) {
    const int64_t count = label_count(keys, 2);
    head.before = {{.width = count, .bias = false}};
    head.logits = false;
  } else if (architecture.ends_with("Model") && !architecture.ends_with("LMHeadModel") &&
             keys.fact_text("head") != "logits") {
    head.logits = false;
  }
  head.scale = keys.number("logit_scale", 1) / keys.number("logits_scaling", 1);
  if (keys.take("dim_model_base") != nullptr && model.hidden > 0) {  // MiniCPM
    head.scale *= keys.number("dim_model_base", 1) / static_cast<double>(model.hidden);
  }
  head.soft_cap = keys.number("final_logit_softcapping", 0);
}

/// Layers that only images make run: their weights count, their time does not.
void skip_cross_layers(Keys& keys, const Shared& shared, Model& model, std::vector<Layer>& layers) {
  const Json* cross = keys.indices("cross_attention_layers");
  if (!keys.fact_flag("cross_layers") || cross == nullptr) {
    return;
  }
  const Attention& a = shared.attention;
  const int64_t each = shared.hidden * a.head_dim * 2 * (a.heads + a.kv_heads) +
                       3 * shared.hidden * shared.width + 2 * (shared.hidden + a.head_dim) + 2;
  std::vector<Layer> kept;
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool skipped = std::any_of(cross->items.begin(), cross->items.end(), [i](const Json& at) {
      return at.integer == static_cast<int64_t>(i);
    });
    if (!skipped) {
      kept.push_back(layers[i]);
    }
  }
  const auto count = static_cast<int64_t>(layers.size() - kept.size());
  model.extra_parameters += count * each + 8 * shared.hidden;  // rows of the image's tokens
  model.notes.push_back(fmt::format(
      "{} cross-attention layers, which run only with an image, are counted but not timed", count));
  layers = std::move(kept);
}

std::optional<bool> tied_in(const Json& config) {
  const Json* value = config.find("tie_word_embeddings");
  return value != nullptr && value->kind == Json::Kind::Bool ? std::optional(value->boolean)
                                                             : std::nullopt;
}

/// Everything but encoder-decoders: shared sizes, layers, input, head.
void read_stack(Keys& keys,
                const Json& outer,
                std::string_view architecture,
                Model& model,
                std::vector<Layer>& layers) {
  Shared shared = read_shared(keys);
  model.hidden = shared.hidden;
  layers = read_layers(keys, shared);
  skip_cross_layers(keys, shared, model, layers);
  if (keys.fact_flag("image")) {
    read_image(keys, architecture, model);
    model.decodes = false;
    return;
  }
  read_input(keys, model);
  if (keys.fact_flag("encoder")) {
    read_encoder_head(keys, architecture, model);
    keys.flag("tie_word_embeddings");
  } else {
    read_head(keys, architecture, tied_in(outer), model);
  }
  if (keys.fact_flag("shared_layers")) {
    model.stack.shared = true;
    for (const std::string_view key : {"num_hidden_groups", "inner_group_num"}) {
      if (const int64_t count = keys.count(key, 1); count != 1) {
        keys.refuse(key, fmt::format("{}", count), "1");
      }
    }
  }
}

/// PaliGemma's prompts and Gemma's encoders attend both ways.
void read_direction(Keys& keys, const Parts& parts, Model& model, std::vector<Layer>& layers) {
  const Json* said = keys.take("use_bidirectional_attention");
  const bool both = said != nullptr && said->kind == Json::Kind::Bool && said->boolean;
  if (!both && text_of(parts.file, "model_type") != "paligemma") {
    return;
  }
  for (Layer& layer : layers) {
    if (auto* attention = std::get_if<Attention>(&layer.mixer)) {
      attention->causal = false;
    }
  }
  model.decodes = model.head.logits;
  keys.take("num_image_tokens");
}

/// The element type, which the text part or the whole may say.
void read_types(Keys& keys, Keys& outer, Model& model) {
  const DType said = read_dtype(outer, std::nullopt);
  model.dtype = read_dtype(keys, said);
  if (keys.take("torch_dtype") == nullptr && keys.take("dtype") == nullptr &&
      outer.take("torch_dtype") == nullptr && outer.take("dtype") == nullptr) {
    model.notes.emplace_back("torch_dtype: not given, bfloat16 assumed");
  }
  if (model.dtype == DType::F32) {
    model.dtype = DType::BF16;
    model.notes.emplace_back("torch_dtype: float32 is run as bfloat16, as serving engines do");
  }
  for (Model& encoder : model.encoder) {
    encoder.dtype = model.dtype;
  }
}

Result<void> set_precisions(const Parts& parts,
                            const ReadOptions& options,
                            std::vector<Layer>& layers,
                            Model& model) {
  Complaints complaints;
  const bool outside = parts.inner && parts.file.find("quantization_config") != nullptr;
  const Json& holder = outside ? parts.file : parts.config;
  const Json* said = holder.find("quantization_config");
  if (layers.empty() && said != nullptr && said->is_object()) {
    complaints.unsupported.push_back("quantization_config: got one, need none beside an encoder");
  }
  read_quantisation(holder, outside ? "" : parts.path(), layers, model, complaints);
  if (!options.quantisation.empty()) {
    ORR_TRY(const Json beside, parse_json(options.quantisation, "hf_quant_config.json"));
    read_quantisation(beside, "hf_quant_config.", layers, model, complaints);
  }
  return complaints.result(model.name);
}

}  // namespace

Result<Model> read_huggingface(std::string_view json,
                               std::string_view name,
                               const ReadOptions& options) {
  ORR_TRY(const Parts parts, parts_of(json, name));
  Complaints complaints;
  const Json no_family;
  Keys keys(parts.config, parts.family, parts.path(), complaints);
  Keys outer(parts.file, no_family, "", complaints);
  Model model;
  model.name = name;
  model.notes = parts.notes;
  const std::string outer_type = text_of(parts.file, "model_type");
  model.family = outer_type.empty() ? parts.type : outer_type;
  model.norm = read_norm(keys);
  model.epsilon = read_epsilon(keys);
  std::vector<Layer> layers;
  if (keys.fact("encoder_decoder") != nullptr) {
    read_encoder_decoder(keys, model);
    read_head(keys, parts.architecture, tied_in(parts.file), model);
  } else {
    read_stack(keys, parts.file, parts.architecture, model, layers);
    const Json* final_norm = keys.fact("final_norm");
    model.stack.final_norm = final_norm == nullptr || final_norm->boolean;
    read_direction(keys, parts, model, layers);
  }
  read_types(keys, outer, model);
  check_rest(keys, model);
  keys.take("quantization_config");
  keys.take("vision_config");
  keys.refuse_unread();
  check_outside(parts.inner, outer);
  ORR_TRY_VOID(complaints.result(name));
  ORR_TRY_VOID(set_precisions(parts, options, layers, model));
  if (!layers.empty()) {
    model.stack.groups = grouped(layers);
  }
  Complaints beside;
  read_towers(parts.file, model, beside);
  ORR_TRY_VOID(beside.result(name));
  return model;
}

}  // namespace orrery::frontend
