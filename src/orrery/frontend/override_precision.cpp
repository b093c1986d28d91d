// Names of precisions, and the parts of a model that take them.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/override_precision.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "orrery/base/text.h"

namespace orrery::frontend {

namespace {

using graph::Precision;
using graph::Scheme;

struct Named {
  std::string_view name;
  DType weight;
  std::optional<DType> activations;  // none: the model's
  Scheme scheme;
  int64_t group;
};

constexpr int64_t kGroup = 128;

constexpr std::array kQuantised = {
    Named{"fp8", DType::F8E4M3, DType::F8E4M3, Scheme::Tensor, 0},
    Named{"fp8_channel", DType::F8E4M3, DType::F8E4M3, Scheme::Channel, 0},
    Named{"fp8_block", DType::F8E4M3, DType::F8E4M3, Scheme::Block, 0},
    Named{"int8", DType::I8, DType::I8, Scheme::Channel, 0},
    Named{"int4", DType::I4, std::nullopt, Scheme::Group, kGroup},
    Named{"mxfp4", DType::F4E2M1, std::nullopt, Scheme::Mx, 0},
    Named{"nvfp4", DType::F4E2M1, DType::F4E2M1, Scheme::Nv, 0},
};

struct NamedType {
  std::string_view name;
  DType type;
};

constexpr std::array kPlain = {
    NamedType{"bf16", DType::BF16}, NamedType{"fp16", DType::F16}, NamedType{"fp32", DType::F32}};
constexpr std::array kSmall = {
    NamedType{"fp8", DType::F8E4M3}, NamedType{"int8", DType::I8}, NamedType{"fp4", DType::F4E2M1}};

constexpr std::array kCache = {NamedType{"fp8", DType::F8E4M3}};

template <class Table>
const typename Table::value_type* find(const Table& table, std::string_view name) {
  const auto found = std::find_if(
      table.begin(), table.end(), [name](const auto& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

template <class... Tables>
Error unknown(std::string_view what, std::string_view got, const Tables&... tables) {
  std::vector<std::string> names;
  const auto add = [&names](const auto& table) {
    for (const auto& row : table) {
      names.emplace_back(row.name);
    }
  };
  (add(tables), ...);
  return make_error(ErrorCode::InvalidInput,
                    "[frontend.precision] {}: got '{}', need one of {}{}",
                    what,
                    got.substr(0, 60),
                    join(names, ", "),
                    did_you_mean(std::string(got), names));
}

/// Is `name` empty or in one of two tables?
template <class First, class Second>
Result<void> check_name(std::string_view what,
                        std::string_view name,
                        const First& first,
                        const Second& second) {
  if (name.empty() || find(first, name) != nullptr || find(second, name) != nullptr) {
    return {};
  }
  return unknown(what, name, first, second);
}

template <class F>
void for_each_layer(Model& model, F&& apply) {
  for (LayerGroup& group : model.stack.groups) {
    for (Layer& layer : group.body) {
      apply(layer);
    }
  }
  for (Model& encoder : model.encoder) {
    for_each_layer(encoder, apply);
  }
}

void set_dtype(Model& model, DType type) {
  model.dtype = type;
  for (Model& encoder : model.encoder) {
    set_dtype(encoder, type);
  }
}

void set_weights(Model& model, const std::string& name) {
  Precision precision;
  if (const NamedType* plain = find(kPlain, name)) {
    set_dtype(model, plain->type);
  } else {
    const Named& named = *find(kQuantised, name);
    precision = {named.weight, named.activations.value_or(model.dtype), named.scheme, named.group};
  }
  for_each_layer(model, [&precision](Layer& layer) {
    for (size_t part = 0; part < kParts; ++part) {
      const bool kept = part == static_cast<size_t>(Part::Router) ||
                        part == static_cast<size_t>(Part::Head) ||
                        part == static_cast<size_t>(Part::Indexer);
      layer.precision[part] = kept ? Precision{} : precision;
    }
  });
}

Result<void> set_activations(Model& model, const std::string& name) {
  const bool plain = find(kPlain, name) != nullptr;
  const NamedType* const type = plain ? find(kPlain, name) : find(kSmall, name);
  if (plain && type->type != model.dtype) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.precision] activations: got {}, need {} (what the model computes "
                      "in), fp8, int8 or fp4",
                      name,
                      orrery::name(model.dtype));
  }
  bool quantised = false;
  for_each_layer(model, [&](Layer& layer) {
    for (Precision& part : layer.precision) {
      if (part.scheme != Scheme::None) {
        part.activations = type->type;
        quantised = true;
      }
    }
  });
  if (!quantised && !plain) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.precision] activations: got {} for weights that are not "
                      "quantised, need quantised weights (fp8, int8, nvfp4 ...)",
                      name);
  }
  return {};
}

Result<void> set_cache(Model& model, const std::string& name) {
  const NamedType* const plain = find(kPlain, name);
  if (plain != nullptr && plain->type != model.dtype) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.precision] kv-cache: got {}, need {} (what the model computes in) "
                      "or fp8",
                      name,
                      orrery::name(model.dtype));
  }
  if (!model.decodes) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.precision] kv-cache: got {} for {}, need a model that decodes",
                      name,
                      model.name);
  }
  model.cache = plain != nullptr ? plain->type : kCache.front().type;
  return {};
}

}  // namespace

Result<void> check_names(const PrecisionNames& names) {
  ORR_TRY_VOID(check_name("weights", names.weights, kPlain, kQuantised));
  ORR_TRY_VOID(check_name("activations", names.activations, kPlain, kSmall));
  return check_name("kv-cache", names.cache, kPlain, kCache);
}

Result<Model> override_precision(Model model, const PrecisionNames& names) {
  ORR_TRY_VOID(check_names(names));
  if (!names.weights.empty()) {
    set_weights(model, names.weights);
  }
  if (!names.activations.empty()) {
    ORR_TRY_VOID(set_activations(model, names.activations));
  }
  if (!names.cache.empty()) {
    ORR_TRY_VOID(set_cache(model, names.cache));
  }
  return model;
}

}  // namespace orrery::frontend
