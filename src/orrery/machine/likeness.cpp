// Likeness: the rules by which numbers carry over.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/machine/likeness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orrery/machine/mixture.h"

namespace orrery::machine {
namespace {

constexpr std::string_view kTensor = "core.tensor";

bool matches(std::string_view key, std::string_view prefix) {
  return key == prefix || (key.starts_with(prefix) && key[prefix.size()] == '.');
}

/// The key that the number `key` grows with; empty: it stays as it is.
std::string_view grows_with(std::string_view key) {
  const auto rules = carry_over_rules();
  const auto at = std::find_if(
      rules.begin(), rules.end(), [&](const CarryOver& rule) { return matches(key, rule.prefix); });
  return at == rules.end() ? std::string_view() : at->with;
}

bool is_own(std::string_view key) {
  const auto own = own_numbers();
  return std::any_of(
      own.begin(), own.end(), [&](std::string_view prefix) { return matches(key, prefix); });
}

double base_value(const NumberFile& file, std::string_view key) {
  const Number* number = file.find(key);
  return number == nullptr ? 0 : in_base_units(*number).value_or(0);
}

/// Lowers a derived dram.mix to what the file's own rates leave room for.
void keep_within_bandwidth(Number& mix, const NumberFile& file, std::string_view name) {
  Dram dram;
  dram.bandwidth = BytesPerSecond(base_value(file, "dram.bandwidth"));
  dram.read = BytesPerSecond(base_value(file, "dram.read"));
  dram.write = BytesPerSecond(base_value(file, "dram.write"));
  const bool known = std::min(dram.read, dram.write).value() > 0 &&
                     std::max(dram.read, dram.write) <= dram.bandwidth;
  if (known && mix.value > largest_mix(dram)) {
    mix.value = largest_mix(dram);
    mix.note = fmt::format("dram.mix of {}, less so that no mixture exceeds dram.bandwidth", name);
  }
}

/// By what the number `with` of `file` exceeds that of `relative`; none if they cannot be compared.
std::optional<double> growth(const NumberFile& file,
                             const NumberFile& relative,
                             std::string_view with) {
  const Number* own = file.find(with);
  const Number* other = relative.find(with);
  if (own == nullptr || other == nullptr) {
    return std::nullopt;
  }
  const std::optional<double> mine = in_base_units(*own);
  const std::optional<double> theirs = in_base_units(*other);
  if (!mine || !theirs || *theirs == 0) {
    return std::nullopt;
  }
  return *mine / *theirs;
}

/// The element type by whose matrix rate the two are compared: bf16, or the first that both have.
std::string stated_type(const NumberFile& file, const NumberFile& relative) {
  std::vector<std::string> types = file.keys_under(kTensor);
  types.insert(types.begin(), "bf16");
  for (const std::string& type : types) {
    std::string key = fmt::format("{}.{}", kTensor, type);
    if (growth(file, relative, key).value_or(0) > 0) {
      return key;
    }
  }
  return {};
}

}  // namespace

std::span<const CarryOver> carry_over_rules() {
  static constexpr std::array kRules = {
      CarryOver{"dram.read", "dram.bandwidth"},
      CarryOver{"dram.write", "dram.bandwidth"},
      CarryOver{"l2.effective", "l2.capacity"},
      CarryOver{"l2.bandwidth", "core.count"},  // an SM's port and the slices grow with the chip
      CarryOver{"l2.stream", "core.count"},
      CarryOver{"link.achieved", "link.bandwidth"},
  };
  return kRules;
}

std::span<const std::string_view> own_numbers() {
  static constexpr std::array<std::string_view, 8> kOwn = {"core.count",
                                                           "clock.max",
                                                           "l2.capacity",
                                                           "dram.capacity",
                                                           "dram.bandwidth",
                                                           "link.gpus",
                                                           "link.bandwidth",
                                                           "link.multicast"};
  return kOwn;
}

void derive_missing(NumberFile& file, const NumberFile& relative, std::string_view name) {
  const std::string stated_key = stated_type(file, relative);
  const std::string_view stated = stated_key;
  std::optional<Number> mix;
  for (const Number& number : relative.numbers()) {
    const bool tensor = matches(number.key, kTensor);
    if (file.has(number.key) || is_own(number.key) || (tensor && stated.empty())) {
      continue;
    }
    Number derived = number;
    derived.source = Source::Derived;
    derived.note = fmt::format("as {}", name);
    if (const auto with = tensor ? stated : grows_with(number.key); !with.empty()) {
      const double factor = growth(file, relative, with).value_or(1);
      derived.value *= factor;
      derived.note =
          fmt::format("{} of {}, grown by {:.4g} with {}", number.key, name, factor, with);
    }
    if (number.key == "dram.mix") {
      mix = std::move(derived);
    } else {
      file.add(std::move(derived));
    }
  }
  if (mix) {  // last: the rates beside it have to be there
    keep_within_bandwidth(*mix, file, name);
    file.add(std::move(*mix));
  }
}

}  // namespace orrery::machine
