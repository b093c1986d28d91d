// cuBLAS' nvjet kernels: what one does and moves.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/nvjet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/nvjet_kernel.h"
#include "orrery/library/nvjet_rule.h"
#include "orrery/library/split_sum.h"

namespace orrery::library {
namespace {

using machine::NumberFile;
using machine::Unit;

using kernel::Profile;
using kernel::ProfilePhase;

struct NvjetTable {
  std::vector<NvjetTile> tiles;
  NvjetRule rule;
  Duration fixed;
  double tensor_share = 1;
  double epilogue_instructions = 0;
  double step_floor = 0;
  double cluster_floor = 0;
  double pitch_32 = 1;
  double pitch_128 = 1;
  double dram_share = 1;
  double overlap = 1;
  int64_t band = 1;  // tiles of the raster's first axis that it sweeps together
  SplitSum sum;
  double error = 0;        // of bf16 and fp8 products of one layer
  double error_other = 0;  // of fp16, batched, or with a k that is not contiguous
};

NvjetTable read_table(NumberFile& file) {
  NvjetTable table;
  table.tiles = nvjet_tiles();
  table.rule = read_nvjet_rule(file);
  table.fixed = duration(file, "nvjet.fixed");
  table.tensor_share = file.number("nvjet.tensor_share", Unit::One);
  table.epilogue_instructions = one(file, "nvjet.epilogue_instructions");
  table.step_floor = cycles(file, "nvjet.step_floor");
  table.cluster_floor = cycles(file, "nvjet.cluster_floor");
  table.pitch_32 = file.number("nvjet.pitch_32", Unit::One);
  table.pitch_128 = file.number("nvjet.pitch_128", Unit::One);
  table.dram_share = file.number("nvjet.dram_share", Unit::One);
  table.overlap = file.number("nvjet.overlap", Unit::One);
  table.band = std::max<int64_t>(1, std::llround(one(file, "nvjet.band")));
  table.sum = read_split_sum(file);
  table.error = error_of(file, "nvjet");
  table.error_other = one(file, "nvjet.error_other");
  return table;
}

// A matrix product as the rules see it.
struct Problem {
  const GemmCall& call;
  const machine::Chip& chip;
  double in = 2;   // bytes of an element of A and B
  double out = 2;  // of C

  double unique() const {
    return product(call.batch, in) * (product(call.m, call.k) + product(call.n, call.k));
  }

  double written() const { return product(call.batch, call.m, call.n, out); }
};

// L2 bytes per operand byte: a TMA box whose rows are not whole lines straddles sectors.
double pitch_factor(const NvjetTable& table, double row_bytes) {
  if (std::fmod(row_bytes, 32) != 0) {
    return table.pitch_32;
  }
  return std::fmod(row_bytes, 128) != 0 ? table.pitch_128 : 1.0;
}

// Reads from DRAM, re-reads beyond L2 included: a wave of tiles that form a square patch reads its
// rows and columns once; what it read is gone when the next wave comes, if A and B exceed L2.
double dram_read(const NvjetTile& tile, const Problem& problem, double tiles) {
  const double unique = problem.unique();
  if (unique <= problem.chip.l2.effective.value()) {
    return unique;
  }
  const auto wave = static_cast<double>(problem.chip.core.count);
  const double area = wave * product(tile.n, tile.m);
  const double side_n = std::min(std::sqrt(area), static_cast<double>(problem.call.n));
  const double side_m = std::min(area / side_n, static_cast<double>(problem.call.m));
  const double patch = (side_n + side_m) * product(problem.call.k, problem.in);
  return std::max(unique, std::min(tiles / wave * patch, tiles * patch));
}

// Bytes of the rows of A and of B in memory.
double row_of_a(const Problem& problem) {
  const auto& call = problem.call;
  const bool contiguous = call.layout == GemmLayout::NT || call.layout == GemmLayout::NN;
  return product(contiguous ? call.k : call.m, problem.in);
}

double row_of_b(const Problem& problem) {
  const auto& call = problem.call;
  const bool contiguous = call.layout == GemmLayout::NT || call.layout == GemmLayout::TT;
  return product(contiguous ? call.k : call.n, problem.in);
}

// Bytes that the wgmma instructions of a k-step read: each slice of 64 rows with all columns of its
// warpgroup. Two warpgroups that split the columns (coopB) both read every row. The bank reads of
// 256x128, 128x128, 320x128 and 192x192 kernels are as this says within 2 % (Nsight Compute).
double shared_read(const NvjetTile& tile, double step_bytes) {
  const auto rows = static_cast<double>(tile.rows_along_n ? tile.n : tile.m);
  const auto columns = static_cast<double>(tile.rows_along_n ? tile.m : tile.n);
  const double readers = tile.sharing == Sharing::CoopB ? 2 : 1;
  return std::ceil(rows / 64) * (64 * readers + columns) * step_bytes;
}

ProfilePhase main_loop(const NvjetKernel& kernel,
                       const Problem& problem,
                       const NvjetTable& table,
                       const NvjetLaunch& launch) {
  const auto n = static_cast<double>(kernel.tile.n);
  const auto m = static_cast<double>(kernel.tile.m);
  const double step_bytes = product(kernel.step, problem.in);
  const double cluster = product(kernel.cluster_n, kernel.cluster_m);
  ProfilePhase phase;
  phase.name = "main loop";
  phase.trips = static_cast<double>(launch.steps);
  phase.ring = kernel.stages;
  phase.work.tensor = Flops(2 * n * m * static_cast<double>(kernel.step));
  phase.work.tensor_type = problem.call.input;
  phase.work.tensor_share = table.tensor_share;
  phase.work.shared_read = Bytes(shared_read(kernel.tile, step_bytes));
  phase.work.l2_read =
      Bytes(step_bytes *
            (n / static_cast<double>(kernel.cluster_m) * pitch_factor(table, row_of_b(problem)) +
             m / static_cast<double>(kernel.cluster_n) * pitch_factor(table, row_of_a(problem))));
  phase.chain.memory = 1;
  phase.chain.fixed = Cycles(table.step_floor + table.cluster_floor * cluster * cluster / 64);
  return phase;
}

ProfilePhase epilogue(const NvjetKernel& kernel,
                      const Problem& problem,
                      double instructions,
                      int64_t slices) {
  const double elements = product(kernel.tile.n, kernel.tile.m);
  ProfilePhase phase;
  phase.name = "epilogue";
  phase.work.issue = Instructions(elements * instructions);
  phase.work.l2_write = Bytes(elements * (slices > 1 ? 4 : problem.out));
  return phase;
}

// The raster of the name: along n (h), or along m (v) where a cluster lies along n only. All 959
// names that profilers showed for tables of products have it so.
kernel::Traversal traversal_of(const NvjetKernel& kernel,
                               const Problem& problem,
                               const NvjetTable& table,
                               const NvjetLaunch& launch) {
  const auto& call = problem.call;
  if (kernel.cluster_n > 1 && kernel.cluster_m > 1) {
    return {};  // order within such a cluster: not known
  }
  const auto up_to = [](int64_t extent, int64_t tile, int64_t cluster) {
    return ceil_div(ceil_div(extent, tile), cluster) * cluster;
  };
  const int64_t columns = up_to(call.n, kernel.tile.n, kernel.cluster_n);
  const int64_t rows = up_to(call.m, kernel.tile.m, kernel.cluster_m);
  const bool down = kernel.cluster_n > 1;
  const size_t row_axis = down ? 0 : 1;
  kernel::Traversal traversal;
  traversal.order.tiles = {down ? rows : columns, down ? columns : rows, call.batch};
  traversal.order.cluster = kernel.cluster_n * kernel.cluster_m;
  traversal.order.cluster_at = 1;
  traversal.order.group = table.band;
  if (launch.slices > 1) {
    traversal.order.tiles.push_back(launch.slices);
    traversal.parts = 3;
  }
  // The mean of whole tiles and of those that end at the tensor's edge.
  const double all_steps = static_cast<double>(launch.steps * std::max<int64_t>(1, launch.slices));
  const double step = product(call.k, problem.in) / all_steps;
  const double of_a = static_cast<double>(call.m) / static_cast<double>(rows) * step;
  const double of_b = static_cast<double>(call.n) / static_cast<double>(columns) * step;
  traversal.reads = {
      {.name = "a", .tile = Bytes(of_a), .axes = {row_axis, 2}, .steps = true, .recent = true},
      {.name = "b", .tile = Bytes(of_b), .axes = {1 - row_axis, 2}, .steps = true}};
  return traversal;
}

double error_for(const GemmCall& call, const NvjetTable& table) {
  const bool usual = call.batch == 1 && call.layout == GemmLayout::NT && call.input != DType::F16;
  return usual ? table.error : table.error_other;
}

Profile nvjet_profile(const NvjetKernel& kernel,
                      const Problem& problem,
                      const NvjetTable& table,
                      const NvjetLaunch& launch) {
  Profile profile;
  profile.kernel = to_text(kernel, problem.call.layout);
  profile.family = "gemm";
  const double units = launch.tiles * static_cast<double>(launch.slices);
  profile.units = static_cast<int64_t>(std::min(9e15, units));
  profile.ctas = std::min(profile.units, launch.sms);
  profile.cluster = kernel.cluster_n * kernel.cluster_m;
  profile.threads = 384;
  profile.usable_sms = launch.sms;
  profile.kinds.push_back(
      {units,
       {main_loop(kernel, problem, table, launch),
        epilogue(kernel, problem, table.epilogue_instructions, launch.slices)}});
  const auto& work = profile.kinds[0].phases[0].work;
  const double partials =
      launch.slices > 1
          ? product(problem.call.batch, problem.call.m, problem.call.n, 4, launch.slices)
          : 0;
  const double written = partials > 0 ? partials : problem.written();
  // Rows of C that begin or end inside a sector: DRAM reads the rest of it before it is written.
  const bool partial =
      std::fmod(product(problem.call.n, problem.out), problem.chip.l2.sector.value()) != 0;
  const double fill = partial && partials == 0 ? written : 0;
  profile.traffic = {
      .unique_read = Bytes(problem.unique()),
      .recent_read = Bytes(product(problem.call.batch, problem.call.m, problem.call.k, problem.in)),
      .unique_write = Bytes(written),
      .dram_read = Bytes(dram_read(kernel.tile, problem, launch.tiles) + fill),
      .fill_read = Bytes(fill),
      .dram_write = Bytes(written),
      .l2_read = Bytes(units * static_cast<double>(launch.steps) * work.l2_read.value()),
      .l2_write = Bytes(written)};
  profile.fixed = table.fixed;
  const bool turns = kernel.tile.sharing == Sharing::PingPong && profile.units >= 2 * profile.ctas;
  profile.roles = turns ? kernel::Roles::PingPong : kernel::Roles::Cooperative;
  profile.traversal = traversal_of(kernel, problem, table, launch);
  profile.behaviour.dram_share = table.dram_share;
  profile.behaviour.overlap = table.overlap;
  profile.behaviour.relative_error = error_for(problem.call, table);
  return profile;
}

std::string reason(const NvjetLaunch& launch, const Problem& problem) {
  const double units = launch.tiles * static_cast<double>(launch.slices);
  const std::string slices =
      launch.slices > 1 ? fmt::format(", each cut into {} along k", launch.slices) : "";
  return fmt::format("cuBLAS' own estimate is least for it: {} tiles{} on {} of {} SMs, {} a wave",
                     whole(launch.tiles),
                     slices,
                     whole(std::min(units, static_cast<double>(launch.sms))),
                     problem.chip.core.count,
                     launch.sms);
}

// The named kernel, or the one that cuBLAS takes.
Result<NvjetKernel> kernel_for(const Problem& problem, const NvjetTable& table) {
  const auto& call = problem.call;
  if (call.kernel.empty()) {
    return nvjet_choice(call, table.tiles, table.rule, problem.chip);
  }
  const auto named = parse_nvjet(call.kernel);
  if (!named) {
    return make_error(ErrorCode::NotFound,
                      "[library.nvjet] kernel: got '{}', need a name like "
                      "nvjet_256x128_64x4_1x2_coopA_TNT",
                      call.kernel);
  }
  return *named;
}

Result<Candidates> nvjet(const Problem& problem, const NvjetTable& table) {
  ORR_TRY(const NvjetKernel kernel, kernel_for(problem, table));
  const NvjetLaunch launch = nvjet_launch(kernel, problem.call, problem.chip.core.count);
  std::vector<Profile> sequence;
  sequence.reserve(2);
  sequence.push_back(nvjet_profile(kernel, problem, table, launch));
  if (problem.call.kernel.empty()) {
    sequence.front().reasons.push_back(reason(launch, problem));
  }
  if (launch.slices > 1) {
    constexpr double kPartial = 4;
    sequence.push_back(
        split_sum_profile(problem.call, launch.slices, kPartial, problem.out, table.sum));
    sequence.back().behaviour.relative_error = error_for(problem.call, table);
  }
  Candidates candidates;
  candidates.push_back(std::move(sequence));
  return candidates;
}

Result<Candidates> candidates_of(const GemmCall& call,
                                 const NvjetTable& table,
                                 const machine::Chip& chip) {
  const Problem problem{.call = call,
                        .chip = chip,
                        .in = element_size(call.input).value(),
                        .out = element_size(call.output).value()};
  const bool half = call.input == DType::BF16 || call.input == DType::F16;
  const bool quarter = call.input == DType::F8E4M3 || call.input == DType::F8E5M2;
  if (!half && !quarter) {
    return make_error(ErrorCode::Unsupported,
                      "[library.nvjet] element type: got {}, need bf16, f16, f8e4m3 or f8e5m2",
                      name(call.input));
  }
  if (chip.core.tensor.find(call.input) == chip.core.tensor.end()) {
    return make_error(ErrorCode::Unsupported,
                      "[library.nvjet] {} has no matrix rate for {}",
                      chip.id,
                      name(call.input));
  }
  const bool aligned = std::fmod(row_of_a(problem), 16) == 0 &&
                       std::fmod(row_of_b(problem), 16) == 0 &&
                       std::fmod(product(call.n, problem.out), 16) == 0;
  if (!aligned) {
    return make_error(
        ErrorCode::Unsupported,
        "[library.nvjet] rows that are not multiples of 16 bytes: got m = {}, n = {}, k = {} of "
        "{} {}, need multiples",
        call.m,
        call.n,
        call.k,
        name(call.input),
        name(call.layout));
  }
  return nvjet(problem, table);
}

class Nvjet final : public Family {
 public:
  explicit Nvjet(NvjetTable table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* gemm = std::get_if<GemmCall>(&call);
    return gemm != nullptr && gemm->quantise == QuantiseA::None && gemm->backend.empty();
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    return candidates_of(std::get<GemmCall>(call), table_, chip);
  }

  bool takes_names() const override { return true; }

 private:
  NvjetTable table_;
};

}  // namespace

std::unique_ptr<Family> read_nvjet(machine::NumberFile& file) {
  return std::make_unique<Nvjet>(read_table(file));
}

}  // namespace orrery::library
