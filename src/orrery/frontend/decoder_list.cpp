// Reader of lists of decoders.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/decoder_list.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "orrery/base/text.h"
#include "orrery/frontend/json.h"

namespace orrery::frontend {

namespace {

constexpr std::array<std::string_view, 7> kFields = {
    "hidden", "intermediate", "heads", "kv_heads", "head_dim", "vocab", "layers"};

/// A plain decoder of the sizes in kFields, in their order.
Model plain_decoder(const std::string& name, const std::array<int64_t, kFields.size()>& sizes) {
  Model model;
  model.name = name;
  model.family = "llama";
  model.hidden = sizes[0];
  model.input.vocabulary = sizes[5];
  Layer layer;
  layer.dense = Dense{.width = sizes[1]};
  layer.mixer = Attention{.heads = sizes[2],
                          .kv_heads = sizes[3],
                          .head_dim = sizes[4],
                          .value_dim = sizes[4],
                          .rotary_dim = sizes[4]};
  model.stack.groups = {{sizes[6], {std::move(layer)}}};
  return model;
}

Result<Model> read_one(std::string_view origin, const std::string& name, const Json& sizes) {
  std::array<int64_t, kFields.size()> numbers{};
  for (size_t i = 0; i < kFields.size(); ++i) {
    const Json* value = sizes.find(kFields[i]);
    if (value == nullptr || value->kind != Json::Kind::Integer || value->integer < 1) {
      return make_error(ErrorCode::InvalidInput,
                        "[frontend.decoders] {}: {}.{}: got {}, need a positive integer",
                        origin,
                        name,
                        kFields[i],
                        value == nullptr ? "none" : value->to_text());
    }
    numbers[i] = value->integer;
  }
  for (const auto& [key, value] : sizes.members) {
    if (std::find(kFields.begin(), kFields.end(), key) == kFields.end()) {
      return make_error(ErrorCode::Unsupported,
                        "[frontend.decoders] {}: {}.{}: not understood (got {})",
                        origin,
                        name,
                        key,
                        value.to_text());
    }
  }
  return plain_decoder(name, numbers);
}

/// "llama3-70b-8L" -> 8 and the name before; 0 if it has no such end.
int64_t cut_layers(std::string_view& name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || name.size() < dash + 3 || name.back() != 'L') {
    return 0;
  }
  const std::string_view digits = name.substr(dash + 1, name.size() - dash - 2);
  int64_t layers = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), layers);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || layers < 1) {
    return 0;
  }
  name = name.substr(0, dash);
  return layers;
}

}  // namespace

Result<std::vector<Model>> read_decoder_list(std::string_view json, std::string_view origin) {
  ORR_TRY(const Json root, parse_json(json, origin));
  const Json* models = root.find("models");
  if (models == nullptr || !models->is_object()) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.decoders] {}: got no object 'models', need one",
                      origin);
  }
  std::vector<Model> list;
  for (const auto& [name, sizes] : models->members) {
    ORR_TRY(Model decoder, read_one(origin, name, sizes));
    list.push_back(std::move(decoder));
  }
  return list;
}

Result<Model> find_decoder(const std::vector<Model>& list, std::string_view name) {
  std::string_view base = name;
  const auto named = [&base](const Model& decoder) { return decoder.name == base; };
  auto found = std::find_if(list.begin(), list.end(), named);
  int64_t layers = 0;
  if (found == list.end()) {
    layers = cut_layers(base);
    found = std::find_if(list.begin(), list.end(), named);
  }
  if (found == list.end()) {
    std::vector<std::string> names;
    for (const Model& decoder : list) {
      names.push_back(decoder.name);
    }
    return make_error(ErrorCode::NotFound,
                      "[frontend.decoders] decoder: got '{}', need one that is listed{}",
                      name,
                      did_you_mean(base, names));
  }
  Model decoder = *found;
  decoder.name = name;
  if (layers > 0) {
    cut_layers(decoder, layers);
  }
  return decoder;
}

}  // namespace orrery::frontend
