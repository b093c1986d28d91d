// Tiled products: what a library file says of them, and which serve a call.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/gemm_types.h"
#include "orrery/library/tile_gemm.h"

namespace orrery::library {
namespace {

using machine::NumberFile;
using machine::Range;
using machine::Unit;

// The numbers of a text between any other marks; empty if one is none, or too large.
std::vector<int64_t> numbers_of(std::string_view text) {
  std::vector<int64_t> numbers;
  while (!text.empty()) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number <= 0 || number > 1 << 20) {
      return {};
    }
    numbers.push_back(number);
    text.remove_prefix(std::min(text.size(), static_cast<size_t>(end - text.data()) + 1));
  }
  return numbers;
}

// Lists of number groups of one length each.
std::vector<std::vector<int64_t>> groups_of(NumberFile& file,
                                            const std::string& key,
                                            size_t count,
                                            std::string_view like) {
  std::vector<std::vector<int64_t>> groups;
  for (const auto& text : file.list(key)) {
    auto numbers = numbers_of(text);
    if (numbers.size() == count) {
      groups.push_back(std::move(numbers));
    } else {
      file.complain(key, fmt::format("got '{}', need numbers like {}", text, like));
    }
  }
  if (groups.empty()) {
    file.complain(key, "got none, need at least one");
  }
  return groups;
}

class SetReader {
 public:
  SetReader(NumberFile& file, std::string name) : file_(file), name_(std::move(name)) {}

  TileSet read() {
    TileSet set;
    set.name = name_;
    set.serves = file_.list(own("serves"));
    set.backends = file_.list(own("backends"));
    set.rows_to =
        static_cast<int64_t>(file_.number_or(own("rows_to"), Unit::One, 0, Range::NotNegative));
    set.engine = engine();
    read_launches(set);
    set.tensor_share = factor("tensor_share");
    set.step_floor = clocks("step_floor");
    set.cluster_floor = clocks("cluster_floor");
    set.epilogue_instructions = factor("epilogue_instructions");
    set.cta = clocks("cta");
    set.conversions = factor("conversions");
    set.pitch_32 = factor("pitch_32");
    set.pitch_128 = factor("pitch_128");
    set.dram_share = factor("dram_share");
    set.overlap = factor("overlap");
    set.fixed = duration(file_, shared("fixed"));
    set.row =
        Duration::from(Seconds(file_.number_or(own("row"), Unit::Seconds, 0, Range::NotNegative)));
    set.error = factor("error");
    return set;
  }

 private:
  std::string own(std::string_view key) const { return fmt::format("tile_gemm.{}.{}", name_, key); }

  // A set's own number, or the one that all sets share.
  std::string shared(std::string_view key) const {
    const std::string mine = own(key);
    return file_.has(mine) ? mine : fmt::format("tile_gemm.{}", key);
  }

  double factor(std::string_view key) { return one(file_, shared(key)); }

  double clocks(std::string_view key) { return cycles(file_, shared(key)); }

  TileEngine engine() {
    const std::string text = file_.text(own("engine"));
    if (text == "mma") return TileEngine::Mma;
    if (text == "wgmma") return TileEngine::Wgmma;
    if (text != "tcgen05" && !text.empty()) {
      file_.complain(own("engine"), fmt::format("got '{}', need mma, wgmma or tcgen05", text));
    }
    return TileEngine::Tcgen05;
  }

  void read_launches(TileSet& set) {
    for (const auto& n : groups_of(file_, own("tiles"), 8, "128x128x64_4 128 230 2x2")) {
      set.tiles.push_back({n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]});
    }
    for (const auto& n : groups_of(file_, own("clusters"), 2, "2x1")) {
      set.clusters.push_back({n[0], n[1]});
    }
    for (const auto& n : groups_of(file_, own("slices"), 1, "1")) {
      set.slices.push_back(n[0]);
    }
  }

  NumberFile& file_;
  std::string name_;
};

class TileGemm final : public Family {
 public:
  explicit TileGemm(NumberFile& file) : sum_(read_split_sum(file)) {
    for (const auto& name : file.list("tile_gemm.sets")) {
      sets_.push_back(SetReader(file, name).read());
    }
  }

  bool serves(const Call& call) const override {
    const auto* gemm = std::get_if<GemmCall>(&call);
    return gemm != nullptr && gemm->quantise == QuantiseA::None && set_for(*gemm) != nullptr;
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& gemm = std::get<GemmCall>(call);
    const TileSet& set = *set_for(gemm);
    if (!chip.core.tensor.contains(gemm.input)) {
      return make_error(ErrorCode::Unsupported,
                        "[library.tile_gemm] {} has no matrix rate for {}",
                        chip.id,
                        orrery::name(gemm.input));
    }
    if (set.tiles.empty()) {
      return make_error(ErrorCode::Unsupported,
                        "[library.tile_gemm] {}: got a set without tiles, need one",
                        set.name);
    }
    Candidates all;
    for (const TileLaunch& launch : tile_launches(set, gemm, chip)) {
      all.push_back(tile_profiles(set, launch, gemm, chip, sum_));
    }
    return all;
  }

 private:
  const TileSet* set_for(const GemmCall& call) const {
    const std::string types = types_name(call);
    const std::string backend = call.backend.empty() ? "default" : call.backend;
    const auto has = [](const std::vector<std::string>& list, const std::string& one) {
      return std::find(list.begin(), list.end(), one) != list.end();
    };
    for (const TileSet& set : sets_) {
      const bool few = set.rows_to == 0 || call.m <= set.rows_to;
      if (few && has(set.serves, types) && has(set.backends, backend)) {
        return &set;
      }
    }
    return nullptr;
  }

  std::vector<TileSet> sets_;
  SplitSum sum_;
};

}  // namespace

std::unique_ptr<Family> read_tile_gemm(NumberFile& file) {
  return std::make_unique<TileGemm>(file);
}

}  // namespace orrery::library
