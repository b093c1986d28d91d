// Kernel programs: names of targets, and the run-time extents.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/program.h"

#include <algorithm>

#include "orrery/base/check.h"

namespace orrery::kernel {

std::string_view name(Target target) {
  switch (target) {
    case Target::Sm90a:
      return "sm_90a";
    case Target::Gfx942:
      return "gfx942";
  }
  ORR_UNREACHABLE();
}

namespace {

// Where `symbol` stands, or would.
auto place_of(auto& values, std::string_view symbol) {
  return std::ranges::lower_bound(
      values, symbol, {}, [](const auto& entry) -> std::string_view { return entry.first; });
}

}  // namespace

std::optional<int64_t> Extents::find(std::string_view symbol) const {
  const auto at = place_of(values, symbol);
  if (at == values.end() || at->first != symbol) return std::nullopt;
  return at->second;
}

void Extents::set(std::string_view symbol, int64_t value) {
  const auto at = place_of(values, symbol);
  if (at != values.end() && at->first == symbol) {
    at->second = value;
  } else {
    values.emplace(at, symbol, value);
  }
}

}  // namespace orrery::kernel
