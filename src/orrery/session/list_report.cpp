// Lists of models and operators.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/list_report.h"

#include <fmt/format.h>

#include "orrery/base/text.h"
#include "orrery/frontend/model_size.h"
#include "orrery/report/json_writer.h"
#include "orrery/report/table.h"
#include "orrery/session/operators.h"

namespace orrery::session {

using report::Align;

namespace {

/// What a row of the table says of a model.
struct ModelRow {
  frontend::Model model;
  double parameters = 0;
};

/// The first layer of latent attention; none if there is none.
const frontend::LatentAttention* first_latent(const frontend::Model& model) {
  for (const frontend::LayerGroup& group : model.stack.groups) {
    for (const frontend::Layer& layer : group.body) {
      if (const auto* latent = std::get_if<frontend::LatentAttention>(&layer.mixer)) {
        return latent;
      }
    }
  }
  return nullptr;
}

/// Heads of the first layer that has attention; "-" if none has.
std::string heads_of(const frontend::Model& model) {
  if (const frontend::Attention* attention = frontend::first_attention(model.stack)) {
    return fmt::format("{}/{}", attention->heads, attention->kv_heads);
  }
  const frontend::LatentAttention* latent = first_latent(model);
  return latent == nullptr ? "-" : fmt::format("{} latent", latent->heads);
}

std::string head_dim_of(const frontend::Model& model) {
  if (const frontend::Attention* attention = frontend::first_attention(model.stack)) {
    return fmt::format("{}", attention->head_dim);
  }
  const frontend::LatentAttention* latent = first_latent(model);
  return latent == nullptr ? "-" : fmt::format("{}+{}", latent->nope_dim, latent->rope_dim);
}

std::string stored_as(const graph::Precision& precision, DType plain) {
  switch (precision.scheme) {
    case graph::Scheme::None:
      return std::string(name(plain));
    case graph::Scheme::Mx:
      return "mxfp4";
    case graph::Scheme::Nv:
      return "nvfp4";
    case graph::Scheme::Tensor:
    case graph::Scheme::Channel:
    case graph::Scheme::Block:
    case graph::Scheme::Group:
      break;
  }
  const std::string_view type = name(precision.weight);
  const std::string plain_type = type.starts_with("f8")  ? "fp8"
                                 : type.starts_with("i") ? "int" + std::string(type.substr(1))
                                                         : std::string(type);
  return plain_type + (precision.scheme == graph::Scheme::Block ? " blocks" : "");
}

/// What the matrices of the layers are stored as: "bf16", "fp8 blocks", "bf16, mxfp4 experts".
/// Embedding, router and head often stay plain beside them.
std::string weights_of(const frontend::Model& model) {
  std::string others;
  std::string experts;
  for (const frontend::LayerGroup& group : model.stack.groups) {
    for (const frontend::Layer& layer : group.body) {
      const auto part = [&](frontend::Part which) {
        return stored_as(layer.precision[static_cast<size_t>(which)], model.dtype);
      };
      others = others.empty() ? part(frontend::Part::AttentionOutput) : others;
      experts = experts.empty() && layer.experts ? part(frontend::Part::Experts) : experts;
    }
  }
  return experts.empty() || experts == others ? others : others + ", " + experts + " experts";
}

/// Width of the first dense feed-forward; 0 if there is none.
int64_t width_of(const frontend::Model& model) {
  for (const frontend::LayerGroup& group : model.stack.groups) {
    for (const frontend::Layer& layer : group.body) {
      if (layer.dense) {
        return layer.dense->width;
      }
    }
  }
  return 0;
}

std::string models_json(const std::vector<ModelRow>& models) {
  report::JsonWriter json;
  json.begin_object().member("schema", "orrery.models/1").key("models").begin_array();
  for (const auto& [model, count] : models) {
    json.begin_object().member("name", model.name).member("parameters", count);
    json.member("layers", frontend::layer_count(model.stack)).member("hidden", model.hidden);
    json.member("intermediate", width_of(model));
    if (const auto* attention = frontend::first_attention(model.stack)) {
      json.member("heads", attention->heads).member("kv_heads", attention->kv_heads);
      json.member("head_dim", attention->head_dim);
    } else if (const auto* latent = first_latent(model)) {
      json.member("heads", latent->heads).member("latent", latent->kv_rank);
      json.member("head_dim", latent->nope_dim + latent->rope_dim);
    }
    json.member("vocabulary", model.input.vocabulary);
    json.member("dtype", name(model.dtype)).member("weights", weights_of(model)).end_object();
  }
  return json.end_array().end_object().text();
}

}  // namespace

Result<std::string> models_report(const Catalog& catalog, bool json) {
  std::vector<ModelRow> models;
  for (const std::string& name : catalog.models()) {
    ORR_TRY(frontend::Model model, catalog.model(name));
    ORR_TRY(const frontend::ModelSize size, frontend::size_of(model));
    models.push_back({std::move(model), size.parameters});
  }
  if (json) {
    return models_json(models);
  }
  report::TextTable table({{"model"},
                           {"parameters", Align::Right},
                           {"layers", Align::Right},
                           {"hidden", Align::Right},
                           {"heads", Align::Right},
                           {"head dim", Align::Right},
                           {"weights"}});
  for (const auto& [model, count] : models) {
    table.add({model.name,
               fmt::format("{:.2f} B", count / 1e9),
               fmt::format("{}", frontend::layer_count(model.stack)),
               fmt::format("{}", model.hidden),
               heads_of(model),
               head_dim_of(model),
               weights_of(model)});
  }
  return table.to_text();
}

std::string operators_report(bool json) {
  report::JsonWriter writer;
  report::TextTable table({{"operator"}, {"arguments"}, {"what"}});
  writer.begin_object().member("schema", "orrery.operators/1").key("operators").begin_array();
  for (const Operator& op : operators()) {
    std::vector<std::string> keys;
    writer.begin_object().member("name", op.name).member("summary", op.summary);
    writer.key("arguments").begin_array();
    for (const Key& key : op.keys) {
      keys.push_back(key.preset.empty() ? fmt::format("{}=", key.name)
                                        : fmt::format("[{}={}]", key.name, key.preset));
      writer.begin_object().member("name", key.name).member("required", key.preset.empty());
      if (!key.preset.empty()) {
        writer.member("default", key.preset);
      }
      writer.member("meaning", key.meaning).end_object();
    }
    writer.end_array().end_object();
    table.add({std::string(op.name), join(keys, " "), std::string(op.summary)});
  }
  writer.end_array().end_object();
  return json ? writer.text() : table.to_text();
}

}  // namespace orrery::session
