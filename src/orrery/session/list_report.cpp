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

/// Heads of the first layer that has attention; "-" if none has.
std::string heads_of(const frontend::Model& model) {
  const frontend::Attention* attention = frontend::first_attention(model.stack);
  return attention == nullptr ? "-" : fmt::format("{}/{}", attention->heads, attention->kv_heads);
}

std::string head_dim_of(const frontend::Model& model) {
  const frontend::Attention* attention = frontend::first_attention(model.stack);
  return attention == nullptr ? "-" : fmt::format("{}", attention->head_dim);
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
    }
    json.member("vocabulary", model.input.vocabulary);
    json.member("dtype", name(model.dtype)).end_object();
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
                           {"dtype"}});
  for (const auto& [model, count] : models) {
    table.add({model.name,
               fmt::format("{:.2f} B", count / 1e9),
               fmt::format("{}", frontend::layer_count(model.stack)),
               fmt::format("{}", model.hidden),
               heads_of(model),
               head_dim_of(model),
               std::string(name(model.dtype))});
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
