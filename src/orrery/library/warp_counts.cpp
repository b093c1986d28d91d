// Warp counts: reading of the lists, and profiles made of them.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/warp_counts.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "orrery/base/text.h"
#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

// "43 13 0 126": exactly four numbers that are not negative.
bool parse_counts(std::string_view text, WarpCounts& counts) {
  const std::array into = {&counts.issue, &counts.integer, &counts.special, &counts.chain};
  size_t read = 0;
  for (const std::string_view part : split(text, ' ')) {
    if (part.empty()) {
      continue;
    }
    const std::optional<double> value = parse_double(part);
    if (read == into.size() || !value || !std::isfinite(*value) || *value < 0) {
      return false;
    }
    *into[read++] = *value;
  }
  return read == into.size();
}

}  // namespace

WarpCounts operator+(const WarpCounts& a, const WarpCounts& b) {
  return {a.issue + b.issue, a.integer + b.integer, a.special + b.special, a.chain + b.chain};
}

WarpCounts operator*(double times, const WarpCounts& counts) {
  return {
      times * counts.issue, times * counts.integer, times * counts.special, times * counts.chain};
}

kernel::PipeWork work_of(const WarpCounts& counts, double warps) {
  kernel::PipeWork work;
  work.issue = Instructions(warps * counts.issue);
  work.integer = 32 * warps * counts.integer;
  work.special = 32 * warps * counts.special;
  return work;
}

CountTable::CountTable(machine::NumberFile& file,
                       std::string_view key,
                       std::initializer_list<std::string_view> needed) {
  for (const std::string& text : file.list(key)) {
    const size_t space = text.find(' ');
    const size_t bar = text.find('|');
    const std::string narrow =
        space == std::string::npos
            ? ""
            : text.substr(space, bar == std::string::npos ? bar : bar - space);
    Row row;
    bool good = parse_counts(narrow, row.narrow);
    row.wide = row.narrow;
    if (bar != std::string::npos) {
      good = parse_counts(text.substr(bar + 1), row.wide) && good;
    }
    if (!good) {
      file.complain(key,
                    fmt::format("got '{}', need a name and four counts, for 4-byte elements after "
                                "a bar",
                                text));
      continue;
    }
    rows_[text.substr(0, space)] = row;
  }
  for (const std::string_view name : needed) {
    if (!has(name)) {
      file.complain(key, fmt::format("got none, need the counts of '{}'", name));
    }
  }
}

WarpCounts CountTable::of(std::string_view name, DType dtype) const {
  const auto at = rows_.find(name);
  if (at == rows_.end()) {
    return {};
  }
  return element_size(dtype).value() >= 4 ? at->second.wide : at->second.narrow;
}

Result<void> floating_point(const RowsCall& call) {
  if (call.dtype == DType::BF16 || call.dtype == DType::F16 || call.dtype == DType::F32) {
    return {};
  }
  return make_error(ErrorCode::Unsupported,
                    "[library.pytorch] {}: got dtype {}, need bf16, fp16 or fp32",
                    call.op,
                    name(call.dtype));
}

kernel::Profile resident_kernel(std::string_view kernel,
                                std::string_view family,
                                const machine::Chip& chip,
                                const Block& block) {
  kernel::Profile profile;
  profile.kernel = kernel;
  profile.family = family;
  profile.threads = block.threads;
  profile.ctas_per_sm = occupancy(chip.core, block.threads, block.registers, block.shared);
  profile.behaviour.residents = true;
  return profile;
}

}  // namespace orrery::library
