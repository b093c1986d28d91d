// One model: its counts and its layers.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "orrery/base/quantity_text.h"
#include "orrery/base/text.h"
#include "orrery/frontend/model_size.h"
#include "orrery/report/json_writer.h"
#include "orrery/session/list_report.h"

namespace orrery::session {

namespace {

using frontend::Layer;
using frontend::ModelSize;

std::string precision_text(const Layer& layer, frontend::Part part) {
  const graph::Precision& precision = layer.precision[static_cast<size_t>(part)];
  return precision.scheme == graph::Scheme::None
             ? ""
             : fmt::format(" {}/{}", name(precision.weight), graph::name(precision.scheme));
}

struct MixerText {
  std::string operator()(std::monostate) const { return ""; }

  std::string operator()(const frontend::Attention& a) const {
    std::string text = fmt::format("attention {}/{} x {}", a.heads, a.kv_heads, a.head_dim);
    text += a.value_dim != a.head_dim ? fmt::format(", values {}", a.value_dim) : "";
    text += a.window > 0 ? fmt::format(", window {}", a.window) : "";
    text += a.chunk > 0 ? fmt::format(", chunks of {}", a.chunk) : "";
    text += a.sinks ? ", sinks" : "";
    return text + (a.causal ? "" : ", both directions");
  }

  std::string operator()(const frontend::LatentAttention& a) const {
    std::string text = fmt::format(
        "latent attention {} x {}+{}, latent {}", a.heads, a.nope_dim, a.rope_dim, a.kv_rank);
    if (a.indexer) {
      text += a.indexer->shared ? ", keys chosen by the layer before"
                                : fmt::format(", {} keys chosen", a.indexer->topk);
    }
    return text;
  }

  std::string operator()(const frontend::DeltaNet& d) const {
    return fmt::format("delta net {} x {} / {} x {}", d.k_heads, d.k_dim, d.v_heads, d.v_dim);
  }

  std::string operator()(const frontend::Lightning& l) const {
    return fmt::format("lightning attention {} x {}", l.heads, l.head_dim);
  }

  std::string operator()(const frontend::Mamba1& m) const {
    return fmt::format("mamba {} channels, state {}", m.inner, m.state);
  }

  std::string operator()(const frontend::ShortConv& c) const {
    return fmt::format("convolution of {} taps on {}", c.taps, c.channels);
  }

  std::string operator()(const frontend::Mamba2& m) const {
    return fmt::format("mamba-2 {} x {}, state {}", m.heads, m.head_dim, m.state);
  }
};

std::string layer_text(const Layer& layer) {
  std::vector<std::string> parts;
  if (const std::string mixer = std::visit(MixerText{}, layer.mixer); !mixer.empty()) {
    parts.push_back(mixer + precision_text(layer, frontend::Part::Qkv));
  }
  if (layer.beside) {
    parts.push_back(MixerText{}(*layer.beside));
  }
  if (layer.cross) {
    parts.push_back(
        fmt::format("cross attention {} x {}", layer.cross->heads, layer.cross->head_dim));
  }
  if (layer.dense) {
    parts.push_back(
        fmt::format("dense {}{}", layer.dense->width, precision_text(layer, frontend::Part::Up)));
  }
  if (layer.experts) {
    const frontend::Experts& e = *layer.experts;
    parts.push_back(
        fmt::format("{} of {} experts of {}{}{}",
                    e.topk,
                    e.count,
                    e.width,
                    precision_text(layer, frontend::Part::Experts),
                    e.shared_width > 0 ? fmt::format(", shared {}", e.shared_width) : ""));
  }
  return join(parts, " + ");
}

std::string layers_text(const frontend::Stack& stack) {
  std::string text;
  for (const frontend::LayerGroup& group : stack.groups) {
    const bool several = group.body.size() > 1;
    if (several) {
      text += fmt::format("{:>4} x\n", group.times);
    }
    for (const Layer& layer : group.body) {
      text += several ? fmt::format("       {}\n", layer_text(layer))
                      : fmt::format("{:>4} x {}\n", group.times, layer_text(layer));
    }
  }
  return text;
}

std::string count_text(double count) {
  return count >= 1e9 ? fmt::format("{:.2f} B", count / 1e9) : fmt::format("{:.1f} M", count / 1e6);
}

std::string as_text(const frontend::Model& model, const ModelSize& size) {
  std::string text = fmt::format("{} ({}), {}\n", model.name, model.family, name(model.dtype));
  text += fmt::format("parameters  {}", count_text(size.parameters));
  text += size.active < size.parameters
              ? fmt::format(", of which a token meets {}", count_text(size.active))
              : "";
  text += size.towers > 0 ? fmt::format("; towers {}", count_text(size.towers)) : "";
  text += fmt::format("\nweights     {}\n", to_text(size.weights));
  if (model.decodes) {
    text += fmt::format("cache       {} a token of context", to_text(size.cache_per_token));
    text += size.state > Bytes(0.0)
                ? fmt::format(", {} a sequence whatever its length", to_text(size.state))
                : "";
    text += "\n";
  }
  text += fmt::format("arithmetic  {} a token, and {} per token of context\n",
                      to_text(size.flops_per_token),
                      to_text(size.flops_per_context));
  text += "layers\n" + layers_text(model.stack);
  for (const frontend::Model& encoder : model.encoder) {
    text += "encoder\n" + layers_text(encoder.stack);
  }
  for (const std::string& note : model.notes) {
    text += "note: " + note + "\n";
  }
  return text;
}

std::string as_json(const frontend::Model& model, const ModelSize& size) {
  report::JsonWriter json;
  json.begin_object().member("schema", "orrery.model/1").member("name", model.name);
  json.member("family", model.family).member("dtype", name(model.dtype));
  json.member("parameters", size.parameters).member("active_parameters", size.active);
  json.member("tower_parameters", size.towers).member("weight_bytes", size.weights.value());
  json.member("cache_bytes_per_token", size.cache_per_token.value());
  json.member("state_bytes", size.state.value());
  json.member("flops_per_token", size.flops_per_token.value());
  json.member("flops_per_token_of_context", size.flops_per_context.value());
  json.key("layers").begin_array();
  for (const frontend::LayerGroup& group : model.stack.groups) {
    json.begin_object().member("times", group.times).key("body").begin_array();
    for (const Layer& layer : group.body) {
      json.value(layer_text(layer));
    }
    json.end_array().end_object();
  }
  json.end_array().key("notes").begin_array();
  for (const std::string& note : model.notes) {
    json.value(note);
  }
  return json.end_array().end_object().text();
}

}  // namespace

Result<std::string> model_report(const Catalog& catalog, std::string_view query, bool json) {
  ORR_TRY(const frontend::Model model, catalog.model(query));
  ORR_TRY(const ModelSize size, frontend::size_of(model));
  return json ? as_json(model, size) : as_text(model, size);
}

}  // namespace orrery::session
