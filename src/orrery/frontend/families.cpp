// The table of families.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/families.h"

#include <algorithm>
#include <array>
#include <span>

#include "orrery/frontend/families_internal.h"

namespace orrery::frontend {

namespace {

/// Is `word` one of the words of `list`?
bool among(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) {
      return true;
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

std::array<std::span<const Family>, 5> tables() {
  return {
      llama_families(), dense_families(), expert_families(), encoder_families(), other_families()};
}

}  // namespace

const Family* find_family(std::string_view model_type, std::string_view architecture) {
  for (const std::span<const Family> table : tables()) {
    for (const Family& family : table) {
      const bool named = model_type.empty() ? among(family.architectures, architecture)
                                            : among(family.types, model_type);
      if (named) {
        return &family;
      }
    }
  }
  return nullptr;
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const std::span<const Family> table : tables()) {
    for (const Family& family : table) {
      std::string_view list = family.types;
      while (!list.empty()) {
        const size_t end = std::min(list.find(' '), list.size());
        names.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace orrery::frontend
