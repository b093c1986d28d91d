// Lists of models and operators.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/list_report.h"

#include <fmt/format.h>

#include "orrery/base/text.h"
#include "orrery/graph/graph.h"
#include "orrery/report/json_writer.h"
#include "orrery/report/table.h"
#include "orrery/session/operators.h"

namespace orrery::session {

using report::Align;

namespace {

/// Elements of all weights.
Result<double> parameters(const frontend::Decoder& decoder) {
  ORR_TRY(const graph::Graph graph, frontend::decoder_graph(decoder, frontend::Phase::Prefill));
  const std::vector<std::pair<std::string, int64_t>> one = {{"batch", 1}, {"seq", 1}};
  ORR_TRY(const graph::Sizes sizes, graph::Sizes::bind(graph, one));
  double count = 0;
  for (const graph::Value& value : graph.values()) {
    if (value.kind == graph::ValueKind::Weight) {
      count += static_cast<double>(graph.times(value)) *
               static_cast<double>(sizes.elements(value.type.shape));
    }
  }
  return count;
}

std::string models_json(const std::vector<std::pair<frontend::Decoder, double>>& models) {
  report::JsonWriter json;
  json.begin_object().member("schema", "orrery.models/1").key("models").begin_array();
  for (const auto& [model, count] : models) {
    json.begin_object().member("name", model.name).member("parameters", count);
    json.member("layers", model.layers).member("hidden", model.hidden);
    json.member("intermediate", model.intermediate).member("heads", model.heads);
    json.member("kv_heads", model.kv_heads).member("head_dim", model.head_dim);
    json.member("vocabulary", model.vocabulary).member("dtype", name(model.dtype)).end_object();
  }
  return json.end_array().end_object().text();
}

}  // namespace

Result<std::string> models_report(const Catalog& catalog, bool json) {
  std::vector<std::pair<frontend::Decoder, double>> models;
  for (const std::string& name : catalog.models()) {
    ORR_TRY(frontend::Decoder model, catalog.model(name));
    ORR_TRY(const double count, parameters(model));
    models.emplace_back(std::move(model), count);
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
               fmt::format("{}", model.layers),
               fmt::format("{}", model.hidden),
               fmt::format("{}/{}", model.heads, model.kv_heads),
               fmt::format("{}", model.head_dim),
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
