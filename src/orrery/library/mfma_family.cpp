// Products on matrix cores of CDNA chips: what a library file says of them.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/gemm_types.h"
#include "orrery/library/mfma_gemm.h"

namespace orrery::library {
namespace {

using machine::NumberFile;
using machine::Unit;

// "256x128x128" is 3 numbers; empty where it is not.
std::vector<int64_t> sizes_of(std::string_view text) {
  constexpr int64_t kMost = 4096;
  std::vector<int64_t> sizes;
  while (!text.empty()) {
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    const auto used = static_cast<size_t>(end - text.data());
    if (error != std::errc() || size <= 0 || size > kMost) {
      return {};
    }
    sizes.push_back(size);
    text.remove_prefix(std::min(text.size(), used + 1));
  }
  return sizes;
}

std::vector<int64_t> read_sizes(NumberFile& file, std::string_view key) {
  std::vector<int64_t> all;
  for (const auto& text : file.list(key)) {
    const auto sizes = sizes_of(text);
    if (sizes.size() == 1) {
      all.push_back(sizes.front());
    } else {
      file.complain(key, fmt::format("got '{}', need a whole number up to 4096", text));
    }
  }
  return all;
}

// Each tile with each k-step.
std::vector<MfmaOption> read_tiles(NumberFile& file) {
  std::vector<MfmaOption> options;
  const auto steps = read_sizes(file, "mfma.steps");
  for (const auto& text : file.list("mfma.tiles")) {
    const auto sizes = sizes_of(text);
    if (sizes.size() != 2) {
      file.complain("mfma.tiles", fmt::format("got '{}', need a tile like 256x128", text));
      continue;
    }
    for (const int64_t step : steps) {
      options.push_back({.tile_m = sizes[0], .tile_n = sizes[1], .step_bytes = step});
    }
  }
  return options;
}

MfmaConstants read_constants(NumberFile& file) {
  return {.tensor_share = file.number("mfma.tensor_share", Unit::One),
          .pipe_overlap = file.number("mfma.pipe_overlap", Unit::One),
          .wait = cycles(file, "mfma.wait"),
          .fill = file.number("mfma.fill", Unit::BytesPerCycle),
          .load_issue = one(file, "mfma.load_issue"),
          .promotion = one(file, "mfma.promotion"),
          .epilogue = one(file, "mfma.epilogue"),
          .prologue = cycles(file, "mfma.prologue"),
          .overlap = file.number("mfma.overlap", Unit::One),
          .split = duration(file, "mfma.split"),
          .error = error_of(file, "mfma")};
}

MfmaTable read_table(NumberFile& file) {
  MfmaTable table{.types = file.list("mfma.types"),
                  .grouped = file.list_or_empty("mfma.grouped"),
                  .tiles = read_tiles(file),
                  .slices = read_sizes(file, "mfma.slices"),
                  .constants = read_constants(file)};
  for (const auto* types : {&table.types, &table.grouped}) {
    for (const auto& type : *types) {
      if (!with_types({}, type).ok()) {
        file.complain("mfma.types",
                      fmt::format("got '{}', need the name of an operand type", type));
      }
    }
  }
  return table;
}

std::vector<GemmCall> served_by(const std::vector<std::string>& types) {
  std::vector<GemmCall> served;
  for (const auto& type : types) {
    if (const auto call = with_types({}, type); call.ok()) {
      served.push_back(*call);
    }
  }
  return served;
}

// The product of all groups: rows on top of each other.
GemmCall joined(const GroupedGemmCall& grouped) {
  GemmCall call{.m = std::accumulate(grouped.rows.begin(), grouped.rows.end(), int64_t{0}),
                .n = grouped.n,
                .k = grouped.k};
  if (const auto typed = with_types(call, orrery::name(grouped.dtype)); typed.ok()) {
    call = *typed;
  }
  return call;
}

class Mfma final : public Family {
 public:
  explicit Mfma(MfmaTable table)
      : table_(std::move(table)),
        served_(served_by(table_.types)),
        grouped_(served_by(table_.grouped)) {}

  bool serves(const Call& call) const override {
    if (const auto* grouped = std::get_if<GroupedGemmCall>(&call)) {
      return among(grouped_, joined(*grouped));
    }
    const auto* gemm = std::get_if<GemmCall>(&call);
    return gemm != nullptr && gemm->backend.empty() && among(served_, *gemm);
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    if (const auto* grouped = std::get_if<GroupedGemmCall>(&call)) {
      const GemmCall all = joined(*grouped);
      return candidates_of(mfma_problem(all, chip, grouped->rows));
    }
    return candidates_of(mfma_problem(std::get<GemmCall>(call), chip));
  }

  bool takes_names() const override { return true; }

 private:
  static bool among(const std::vector<GemmCall>& served, const GemmCall& call) {
    return std::any_of(served.begin(), served.end(), [&call](const GemmCall& each) {
      return each.input == call.input && each.quantisation == call.quantisation;
    });
  }

  // The kernel that the call names, whether the library file lists its tile or not.
  Result<Candidates> named(const MfmaProblem& problem) const {
    const std::string& kernel = problem.call.kernel;
    const auto option = parse_mfma(kernel, problem.in);
    if (!option) {
      return make_error(ErrorCode::NotFound,
                        "[library.mfma] kernel: got '{}', need a name like MT256x128x64 or "
                        "MT64x64x128_split4",
                        kernel);
    }
    const double used = product(option->tile_m + option->tile_n, option->step_bytes);
    const Bytes held = problem.chip.core.shared_per_cta;
    if (used > held.value()) {
      return make_error(ErrorCode::Unsupported,
                        "[library.mfma] kernel {}: got {} B of operands a step, need at most the "
                        "{} B of LDS",
                        kernel,
                        used,
                        held.value());
    }
    return Candidates{{mfma_profile(*option, problem, table_.constants)}};
  }

  Result<Candidates> candidates_of(const MfmaProblem& problem) const {
    const machine::Chip& chip = problem.chip;
    if (chip.core.tensor.find(problem.call.input) == chip.core.tensor.end()) {
      return make_error(ErrorCode::Unsupported,
                        "[library.mfma] {} has no matrix rate for {}: got dtype {}",
                        chip.id,
                        orrery::name(problem.call.input),
                        types_name(problem.call));
    }
    if (!problem.call.kernel.empty()) {
      return named(problem);
    }
    Candidates all;
    for (const MfmaOption& option : mfma_choice(table_, problem)) {
      auto profile = mfma_profile(option, problem, table_.constants);
      profile.reasons.push_back(
          fmt::format("among the fastest of {} tiles by its steps and waves: {} workgroups on {} "
                      "compute units",
                      table_.tiles.size(),
                      profile.units,
                      chip.core.count));
      all.push_back({std::move(profile)});
    }
    if (all.empty()) {
      return make_error(ErrorCode::Unsupported,
                        "[library.mfma] {}: got no tile that fits into {} B of LDS",
                        chip.id,
                        chip.core.shared_per_cta.value());
    }
    return all;
  }

  MfmaTable table_;
  std::vector<GemmCall> served_;
  std::vector<GemmCall> grouped_;
};

// Where a name says its macro tile: after "MT" at its begin or after an underscore.
std::string_view after_tile_mark(std::string_view name) {
  constexpr std::string_view kMark = "MT";
  if (name.starts_with(kMark)) {
    return name.substr(kMark.size());
  }
  const size_t at = name.find("_MT");
  return at == std::string_view::npos ? "" : name.substr(at + 1 + kMark.size());
}

}  // namespace

std::optional<MfmaOption> parse_mfma(std::string_view name, double in) {
  constexpr std::string_view kSplit = "_split";
  const std::string_view text = after_tile_mark(name);
  const auto tile = sizes_of(text.substr(0, text.find('_')));
  if (tile.size() != 3) {
    return std::nullopt;
  }
  MfmaOption option{.tile_m = tile[0],
                    .tile_n = tile[1],
                    .step_bytes = std::llround(static_cast<double>(tile[2]) * in)};
  if (const size_t at = text.find(kSplit); at != std::string_view::npos) {
    const std::string_view slices = text.substr(at + kSplit.size());
    const auto count = sizes_of(slices.substr(0, slices.find('_')));
    if (count.size() != 1) {
      return std::nullopt;
    }
    option.slices = count.front();
  }
  return option.step_bytes > 0 ? std::optional(option) : std::nullopt;
}

std::unique_ptr<Family> read_mfma(NumberFile& file) {
  return std::make_unique<Mfma>(read_table(file));
}

}  // namespace orrery::library
