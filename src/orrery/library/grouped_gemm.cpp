// Grouped GEMM: the tile rule, the dealing of tiles to clusters, rows beyond an expert's.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/grouped_gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;
using machine::NumberFile;
using machine::Unit;

struct GroupedTable {
  double tensor_share = 1;
  double zero_fill = 1;  // bytes per clock
  double pair_fill = 1;
  double unit_small = 0;
  double unit_large = 0;
  double dram_share = 1;
  double overlap = 0;
  Duration prepare;
  Duration fixed;
  double error = 0;
};

constexpr double kElement = 2;  // bytes

// GroupMM.cu of PyTorch: a ping-pong kernel of 64x128x128 for few rows an expert, else a
// cooperative one of 128x256x64; clusters of two tiles of rows.
struct Tile {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
};

Tile tile_of(const GroupedGemmCall& call, int64_t rows) {
  const bool small = rows / static_cast<int64_t>(call.rows.size()) <= 128 || call.n <= 128;
  return small ? Tile{64, 128, 128} : Tile{128, 256, 64};
}

// What the clusters of two CTAs get. A cluster takes pairs of row tiles times column tiles in the
// order of experts, each 66th; a tile of rows beyond the expert's is computed all the same.
struct Dealt {
  double units = 0;       // pairs of tiles
  double active = 0;      // experts with rows
  double mean_floor = 0;  // clocks a step of the busiest cluster takes at least
};

// Least time of a step: TMA fills rows beyond the expert's with zeros, slowly; and the loads of the
// pair have to come.
double step_floor(int64_t missing, const Tile& tile, const GroupedTable& table) {
  const double fill = product(missing, tile.depth) * kElement / table.zero_fill;
  const double load = (static_cast<double>(tile.rows) + 0.5 * static_cast<double>(tile.columns)) *
                      static_cast<double>(tile.depth) * kElement / table.pair_fill;
  return std::max(fill, load);
}

// Units are dealt in runs: the pair p of an expert is `columns` units. The busiest cluster's mean
// is that of all, since runs are long or pairs are many; what is exact is how many units it gets.
Dealt deal(const GroupedGemmCall& call, const Tile& tile, const GroupedTable& table) {
  const auto columns = static_cast<double>(ceil_div(call.n, tile.columns));
  Dealt dealt;
  double sum = 0;
  for (const int64_t rows : call.rows) {
    if (rows == 0) {
      continue;
    }
    dealt.active += 1;
    const int64_t pairs = ceil_div(rows, 2 * tile.rows);
    const int64_t in_last = rows - (pairs - 1) * 2 * tile.rows;
    const int64_t second = std::max<int64_t>(0, in_last - tile.rows);  // rows of its second tile
    sum += columns * (static_cast<double>(pairs - 1) * step_floor(0, tile, table) +
                      step_floor(tile.rows - second, tile, table));
    dealt.units += columns * static_cast<double>(pairs);
  }
  dealt.mean_floor = dealt.units > 0 ? sum / dealt.units : 0;
  return dealt;
}

// prepare_grouped_gemm_data: one CTA with a thread an expert.
Profile prepare(const GroupedGemmCall& call, const GroupedTable& table) {
  Profile profile;
  profile.kernel = "prepare_grouped_gemm_data";
  profile.threads = static_cast<int64_t>(call.rows.size());
  ProfilePhase phase;
  phase.name = "pointers and strides";
  phase.chain.memory = 1;
  set_units(profile, {{1, {phase}}});
  profile.traffic = streamed(product(call.rows.size(), 4), product(call.rows.size(), 64));
  profile.fixed = table.prepare;
  return profile;
}

Profile product_of_groups(const GroupedGemmCall& call,
                          int64_t rows,
                          const GroupedTable& table,
                          const machine::Chip& chip) {
  const Tile tile = tile_of(call, rows);
  const Dealt dealt = deal(call, tile, table);
  ProfilePhase loop;
  loop.name = "main loop";
  loop.trips = static_cast<double>(ceil_div(call.k, tile.depth));
  loop.work.tensor = Flops(2 * product(tile.rows, tile.columns, tile.depth));
  loop.work.tensor_type = call.dtype;
  loop.work.tensor_share = table.tensor_share;
  const double tensor_clocks =
      loop.work.tensor.value() / (chip.core.tensor.at(call.dtype).value() * loop.work.tensor_share);
  loop.chain.fixed = Cycles(dealt.mean_floor > tensor_clocks ? dealt.mean_floor : 0.0);
  ProfilePhase rest;
  rest.name = "tensor maps, fill, epilogue";
  rest.chain.fixed = Cycles(tile.rows == 64 ? table.unit_small : table.unit_large);
  Profile profile;
  profile.kernel = fmt::format("cutlass grouped {}x{}x{}_2x1", tile.rows, tile.columns, tile.depth);
  profile.threads = 384;
  profile.cluster = 2;
  set_units(profile, {{2 * dealt.units, {loop, rest}}});
  profile.ctas = std::min(profile.units, chip.core.count);
  const double weights = dealt.active * product(call.n, call.k) * kElement;
  profile.traffic =
      streamed(weights + product(rows, call.k) * kElement, product(rows, call.n) * kElement);
  profile.traffic.recent_read = Bytes(product(rows, call.k) * kElement);
  profile.fixed = table.fixed;
  profile.behaviour.overlap = table.overlap;
  profile.behaviour.dram_share = table.dram_share;
  profile.reasons.push_back(fmt::format(
      "{} rows an expert on average: tile {}x{}x{} (GroupMM.cu); {} of {} experts have rows",
      rows / static_cast<int64_t>(call.rows.size()),
      tile.rows,
      tile.columns,
      tile.depth,
      dealt.active,
      call.rows.size()));
  return profile;
}

class GroupedGemm final : public Family {
 public:
  explicit GroupedGemm(GroupedTable table) : table_(table) {}

  bool serves(const Call& call) const override {
    return std::holds_alternative<GroupedGemmCall>(call);
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& grouped = std::get<GroupedGemmCall>(call);
    if (grouped.dtype != DType::BF16 || chip.core.tensor.count(DType::BF16) == 0) {
      return make_error(ErrorCode::Unsupported,
                        "[library.grouped_gemm] element type: got {}, need bf16",
                        name(grouped.dtype));
    }
    int64_t rows = 0;
    for (const int64_t each : grouped.rows) {
      if (each < 0 || each > (int64_t{1} << 40) - rows) {
        return make_error(ErrorCode::InvalidInput,
                          "[library.grouped_gemm] rows of an expert: got {}, need 0 to 2^40 in all",
                          each);
      }
      rows += each;
    }
    if (rows == 0) {
      return make_error(ErrorCode::InvalidInput,
                        "[library.grouped_gemm] rows: got 0 in all, need at least 1");
    }
    Profile main = product_of_groups(grouped, rows, table_, chip);
    Profile before = prepare(grouped, table_);
    for (Profile* profile : {&before, &main}) {
      profile->family = "grouped_gemm";
      profile->behaviour.relative_error = table_.error;
    }
    return Candidates{{std::move(before), std::move(main)}};
  }

 private:
  GroupedTable table_;
};

}  // namespace

std::unique_ptr<Family> read_grouped_gemm(NumberFile& file) {
  return std::make_unique<GroupedGemm>(
      GroupedTable{.tensor_share = file.number("grouped_gemm.tensor_share", Unit::One),
                   .zero_fill = file.number("grouped_gemm.zero_fill", Unit::BytesPerCycle),
                   .pair_fill = file.number("grouped_gemm.pair_fill", Unit::BytesPerCycle),
                   .unit_small = cycles(file, "grouped_gemm.unit_small"),
                   .unit_large = cycles(file, "grouped_gemm.unit_large"),
                   .dram_share = file.number("grouped_gemm.dram_share", Unit::One),
                   .overlap = file.number("grouped_gemm.overlap", Unit::One),
                   .prepare = duration(file, "grouped_gemm.prepare"),
                   .fixed = duration(file, "grouped_gemm.fixed"),
                   .error = error_of(file, "grouped_gemm")});
}

}  // namespace orrery::library
