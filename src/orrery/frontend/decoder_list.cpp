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

struct Field {
  std::string_view key;
  int64_t Decoder::* member;
};

constexpr std::array kFields = {
    Field{"hidden", &Decoder::hidden},
    Field{"intermediate", &Decoder::intermediate},
    Field{"heads", &Decoder::heads},
    Field{"kv_heads", &Decoder::kv_heads},
    Field{"head_dim", &Decoder::head_dim},
    Field{"vocab", &Decoder::vocabulary},
    Field{"layers", &Decoder::layers},
};

Result<Decoder> read_one(std::string_view origin, const std::string& name, const Json& sizes) {
  Decoder decoder;
  decoder.name = name;
  for (const Field& field : kFields) {
    const Json* value = sizes.find(field.key);
    if (value == nullptr || value->kind != Json::Kind::Integer || value->integer < 1) {
      return make_error(ErrorCode::InvalidInput,
                        "[frontend.decoders] {}: {}.{}: got {}, need a positive integer",
                        origin,
                        name,
                        field.key,
                        value == nullptr ? "none" : value->to_text());
    }
    decoder.*field.member = value->integer;
  }
  for (const auto& [key, value] : sizes.members) {
    const bool known = std::any_of(
        kFields.begin(), kFields.end(), [&key](const Field& field) { return field.key == key; });
    if (!known) {
      return make_error(ErrorCode::Unsupported,
                        "[frontend.decoders] {}: {}.{}: not understood (got {})",
                        origin,
                        name,
                        key,
                        value.to_text());
    }
  }
  return decoder;
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

Result<std::vector<Decoder>> read_decoder_list(std::string_view json, std::string_view origin) {
  ORR_TRY(const Json root, parse_json(json, origin));
  const Json* models = root.find("models");
  if (models == nullptr || !models->is_object()) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.decoders] {}: got no object 'models', need one",
                      origin);
  }
  std::vector<Decoder> list;
  for (const auto& [name, sizes] : models->members) {
    ORR_TRY(Decoder decoder, read_one(origin, name, sizes));
    list.push_back(std::move(decoder));
  }
  return list;
}

Result<Decoder> find_decoder(const std::vector<Decoder>& list, std::string_view name) {
  std::string_view base = name;
  const auto named = [&base](const Decoder& decoder) { return decoder.name == base; };
  auto found = std::find_if(list.begin(), list.end(), named);
  int64_t layers = 0;
  if (found == list.end()) {
    layers = cut_layers(base);
    found = std::find_if(list.begin(), list.end(), named);
  }
  if (found == list.end()) {
    std::vector<std::string> names;
    for (const Decoder& decoder : list) {
      names.push_back(decoder.name);
    }
    return make_error(ErrorCode::NotFound,
                      "[frontend.decoders] decoder: got '{}', need one that is listed{}",
                      name,
                      did_you_mean(base, names));
  }
  Decoder decoder = *found;
  decoder.name = name;
  decoder.layers = layers > 0 ? std::min(layers, decoder.layers) : decoder.layers;
  return decoder;
}

}  // namespace orrery::frontend
