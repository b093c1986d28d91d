// cuBLAS' nvjet kernels: tiles, clusters, split-K and traffic.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/nvjet.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

using machine::NumberFile;
using machine::Unit;

using kernel::Profile;
using kernel::ProfilePhase;

/// An nvjet kernel as its name tells: tile n x m, k-step x stages, cluster n x m.
struct NvjetKernel {
  std::string name;
  int64_t tile_n = 0;
  int64_t tile_m = 0;
  int64_t step = 0;
  int64_t stages = 0;
  int64_t cluster_n = 1;
  int64_t cluster_m = 1;
  bool split = false;        // splitK: the product is cut along k, a second kernel adds
  bool rows_along_n = true;  // TNT: wgmma's M side lies along n; TNN: along m
};

struct NvjetTable {
  std::vector<NvjetKernel> kernels16;
  std::vector<NvjetKernel> kernels8;
  Duration fixed;
  double tensor_share = 1;
  double epilogue_instructions = 0;
  double step_floor = 0;
  double cluster_floor = 0;
  double pitch_32 = 1;
  double pitch_128 = 1;
  double dram_share = 1;
  Duration split_fixed;
  double split_trip = 0;
  double error = 0;
};

// Takes a number and `after` from the front of `text`.
bool take(std::string_view& text, int64_t& number, char after) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto used = static_cast<size_t>(end - text.data());
  if (error != std::errc() || number <= 0 || number > 65536 || used >= text.size() ||
      text[used] != after) {
    return false;
  }
  text.remove_prefix(used + 1);
  return true;
}

// "256x128_64x4_1x2_coopA_splitK_TNT"
bool parse_nvjet(std::string_view text, NvjetKernel& kernel) {
  kernel.name = text;
  kernel.split = text.find("_splitK") != std::string_view::npos;
  kernel.rows_along_n = text.ends_with("_TNT");
  if (!kernel.rows_along_n && !text.ends_with("_TNN")) {
    return false;
  }
  return take(text, kernel.tile_n, 'x') && take(text, kernel.tile_m, '_') &&
         take(text, kernel.step, 'x') && take(text, kernel.stages, '_') &&
         take(text, kernel.cluster_n, 'x') && take(text, kernel.cluster_m, '_');
}

std::vector<NvjetKernel> read_kernels(NumberFile& file, std::string_view key) {
  std::vector<NvjetKernel> kernels;
  for (const auto& text : file.list(key)) {
    NvjetKernel kernel;
    if (parse_nvjet(text, kernel)) {
      kernels.push_back(std::move(kernel));
    } else {
      file.complain(key,
                    fmt::format("got '{}', need a kernel like 256x128_64x4_1x2_coopA_TNT", text));
    }
  }
  if (kernels.empty()) {
    file.complain(key, "need at least one kernel");
  }
  return kernels;
}

NvjetTable read_table(NumberFile& file) {
  NvjetTable table;
  table.kernels16 = read_kernels(file, "nvjet.tiles_16bit");
  table.kernels8 = read_kernels(file, "nvjet.tiles_8bit");
  table.fixed = duration(file, "nvjet.fixed");
  table.tensor_share = file.number("nvjet.tensor_share", Unit::One);
  table.epilogue_instructions = one(file, "nvjet.epilogue_instructions");
  table.step_floor = cycles(file, "nvjet.step_floor");
  table.cluster_floor = cycles(file, "nvjet.cluster_floor");
  table.pitch_32 = file.number("nvjet.pitch_32", Unit::One);
  table.pitch_128 = file.number("nvjet.pitch_128", Unit::One);
  table.dram_share = file.number("nvjet.dram_share", Unit::One);
  table.split_fixed = duration(file, "nvjet.split_fixed");
  table.split_trip = cycles(file, "nvjet.split_trip");
  table.error = error_of(file, "nvjet");
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

// Sizes of one launch of an nvjet kernel.
struct Launch {
  int64_t tiles_n = 0;  // rounded up to the cluster
  int64_t tiles_m = 0;
  double tiles = 0;  // with the batch, rounded
  int64_t slices = 1;
  int64_t sms = 0;
  int64_t steps = 0;  // of a slice
};

int64_t round_up(int64_t value, int64_t to) {
  return ceil_div(value, to) * to;
}

// Clusters of 4 and 8 leave SMs of incomplete GPCs idle: no such grid exceeds 120 CTAs on 132 SMs
// (geometry of 385 launches). The number of slices is the largest that still fills one wave, keeps
// 20 k-steps a slice, and is at most 7 (64 of 68 launches, the rest off by one).
Launch launch_of(const NvjetKernel& kernel, const Problem& problem) {
  Launch launch;
  launch.tiles_n = round_up(ceil_div(problem.call.n, kernel.tile_n), kernel.cluster_n);
  launch.tiles_m = round_up(ceil_div(problem.call.m, kernel.tile_m), kernel.cluster_m);
  launch.tiles = product(launch.tiles_n, launch.tiles_m, problem.call.batch);
  const int64_t cluster = kernel.cluster_n * kernel.cluster_m;
  const int64_t all = problem.chip.core.count;
  launch.sms = cluster > 2 ? std::max(cluster, all * 10 / 11 / cluster * cluster) : all;
  const int64_t steps = ceil_div(problem.call.k, kernel.step);
  if (kernel.split) {
    const double fit = std::floor(static_cast<double>(launch.sms) / launch.tiles);
    const double deep = static_cast<double>(steps / 20);
    launch.slices = std::max<int64_t>(2, static_cast<int64_t>(std::min({fit, deep, 7.0})));
  }
  launch.steps = ceil_div(steps, launch.slices);
  return launch;
}

// L2 bytes per operand byte: a TMA box whose rows are not whole lines straddles sectors.
double pitch_factor(const NvjetTable& table, double row_bytes) {
  if (std::fmod(row_bytes, 32) != 0) {
    return table.pitch_32;
  }
  return std::fmod(row_bytes, 128) != 0 ? table.pitch_128 : 1.0;
}

// Reads from DRAM, re-reads beyond L2 included: a wave of tiles that form a square patch reads its
// rows and columns once; what it read is gone when the next wave comes, if A and B exceed L2.
double dram_read(const NvjetKernel& kernel, const Problem& problem, double tiles) {
  const double unique = problem.unique();
  if (unique <= problem.chip.l2.effective.value()) {
    return unique;
  }
  const auto wave = static_cast<double>(problem.chip.core.count);
  const double area = wave * static_cast<double>(kernel.tile_n * kernel.tile_m);
  const double side_n = std::min(std::sqrt(area), static_cast<double>(problem.call.n));
  const double side_m = std::min(area / side_n, static_cast<double>(problem.call.m));
  const double patch = (side_n + side_m) * product(problem.call.k, problem.in);
  return std::max(unique, std::min(tiles / wave * patch, tiles * patch));
}

ProfilePhase main_loop(const NvjetKernel& kernel,
                       const Problem& problem,
                       const NvjetTable& table,
                       const Launch& launch) {
  const auto n = static_cast<double>(kernel.tile_n);
  const auto m = static_cast<double>(kernel.tile_m);
  const double step_bytes = product(kernel.step, problem.in);
  const double side_m =
      kernel.rows_along_n ? n : m;  // wgmma's M, in slices of 64; its N is read once per slice
  const double side_n = kernel.rows_along_n ? m : n;
  const double cluster = product(kernel.cluster_n, kernel.cluster_m);
  ProfilePhase phase;
  phase.name = "main loop";
  phase.trips = static_cast<double>(launch.steps);
  phase.ring = kernel.stages;
  phase.work.tensor = Flops(2 * n * m * static_cast<double>(kernel.step));
  phase.work.tensor_type = problem.call.input;
  phase.work.tensor_share = table.tensor_share;
  phase.work.shared_read = Bytes(std::ceil(side_m / 64) * (64 + side_n) * step_bytes);
  phase.work.l2_read = Bytes(
      step_bytes * pitch_factor(table, product(problem.call.k, problem.in)) *
      (n / static_cast<double>(kernel.cluster_m) + m / static_cast<double>(kernel.cluster_n)));
  phase.chain.memory = 1;
  phase.chain.fixed = Cycles(table.step_floor + table.cluster_floor * cluster * cluster / 64);
  return phase;
}

ProfilePhase epilogue(const NvjetKernel& kernel,
                      const Problem& problem,
                      double instructions,
                      int64_t slices) {
  const double elements = product(kernel.tile_n, kernel.tile_m);
  ProfilePhase phase;
  phase.name = "epilogue";
  phase.work.issue = Instructions(elements * instructions);
  phase.work.l2_write = Bytes(elements * (slices > 1 ? 4 : problem.out));
  return phase;
}

// The kernel that adds the slices: each thread walks them.
Profile split_sum(const Problem& problem, const NvjetTable& table, int64_t slices) {
  const double elements = product(problem.call.batch, problem.call.m, problem.call.n);
  Profile profile;
  profile.kernel = "splitKreduce_kernel";
  profile.family = "gemm";
  profile.threads = 512;
  profile.ctas = static_cast<int64_t>(std::min(9e15, std::ceil(elements / 1024)));
  profile.units = profile.ctas;
  profile.ctas_per_sm = 4;
  ProfilePhase sum;
  sum.name = "sum";
  sum.trips = static_cast<double>(slices);
  sum.work.issue = Instructions(16 * 12);
  sum.work.l2_read = Bytes(4 * 1024.0);
  sum.chain.fixed = Cycles(table.split_trip);
  profile.kinds.push_back({static_cast<double>(profile.units), {sum}});
  const double read = elements * 4 * static_cast<double>(slices);
  profile.traffic = {.unique_read = Bytes(read),
                     .recent_read = Bytes(read),
                     .unique_write = Bytes(problem.written()),
                     .dram_read = Bytes(read),
                     .dram_write = Bytes(problem.written()),
                     .l2_read = Bytes(read),
                     .l2_write = Bytes(problem.written())};
  profile.fixed = table.split_fixed;
  profile.behaviour.relative_error = table.error;
  return profile;
}

Profile nvjet_profile(const NvjetKernel& kernel,
                      const Problem& problem,
                      const NvjetTable& table,
                      const Launch& launch) {
  Profile profile;
  profile.kernel = "nvjet_" + kernel.name;
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
      .dram_read = Bytes(dram_read(kernel, problem, launch.tiles) + fill),
      .dram_write = Bytes(written),
      .l2_read = Bytes(units * static_cast<double>(launch.steps) * work.l2_read.value()),
      .l2_write = Bytes(written)};
  profile.fixed = table.fixed;
  profile.behaviour.dram_share = table.dram_share;
  profile.behaviour.relative_error = table.error;
  return profile;
}

// Kernels worth asking for: splits need a grid that leaves half of the SMs idle and k deep enough.
bool sensible(const NvjetKernel& kernel, const Launch& launch, const Problem& problem) {
  const int64_t steps = ceil_div(problem.call.k, kernel.step);
  return !kernel.split || (launch.tiles * 2 <= static_cast<double>(launch.sms) && steps >= 20);
}

// A lower bound of the clocks that the busiest SM works: its k-steps by tensor pipe or floor, its
// epilogues.
double least_cycles(const NvjetKernel& kernel,
                    const Problem& problem,
                    const NvjetTable& table,
                    const Launch& launch) {
  const double tile = product(kernel.tile_n, kernel.tile_m);
  const double rate = problem.chip.core.tensor.at(problem.call.input).value() * table.tensor_share;
  const double step =
      std::max(2 * tile * static_cast<double>(kernel.step) / rate, table.step_floor);
  const double rounds = std::ceil(launch.tiles * static_cast<double>(launch.slices) /
                                  static_cast<double>(launch.sms));
  const double epilogue =
      tile * table.epilogue_instructions / static_cast<double>(problem.chip.core.schedulers);
  return rounds * (static_cast<double>(launch.steps) * step + epilogue);
}

struct Option {
  const NvjetKernel* kernel = nullptr;
  Launch launch;
  double cycles = 0;
};

// Kernels that cannot win are not profiled: their SMs alone work far longer than the best's, longer
// than DRAM needs for the operands, and longer than what fixed costs hide.
std::vector<Option> worthwhile(const Problem& problem, const NvjetTable& table) {
  constexpr double kFar = 2;
  std::vector<Option> options;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& kernel : problem.in > 1 ? table.kernels16 : table.kernels8) {
    const Launch launch = launch_of(kernel, problem);
    if (sensible(kernel, launch, problem)) {
      options.push_back({&kernel, launch, least_cycles(kernel, problem, table, launch)});
      least = std::min(least, options.back().cycles);
    }
  }
  const double clock = problem.chip.clock.max.value();
  const double dram = problem.unique() / problem.chip.dram.read.value() * clock;
  const double fixed = 2 * (table.fixed + problem.chip.launch.graph_gap).seconds().value() * clock;
  const double most = std::max({kFar * least, dram, least + fixed});
  std::erase_if(options, [&](const Option& option) { return option.cycles > most; });
  return options;
}

Candidates nvjet(const Problem& problem, const NvjetTable& table) {
  Candidates candidates;
  for (const auto& option : worthwhile(problem, table)) {
    std::vector<Profile> sequence;
    sequence.reserve(2);
    sequence.push_back(nvjet_profile(*option.kernel, problem, table, option.launch));
    if (option.launch.slices > 1) {
      sequence.push_back(split_sum(problem, table, option.launch.slices));
    }
    candidates.push_back(std::move(sequence));
  }
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
  const bool aligned = std::fmod(product(call.k, problem.in), 16) == 0 &&
                       std::fmod(product(call.n, problem.out), 16) == 0;
  if (!aligned) {
    return make_error(
        ErrorCode::Unsupported,
        "[library.nvjet] rows that are not multiples of 16 bytes: got n = {}, k = {} of {}, "
        "need multiples",
        call.n,
        call.k,
        name(call.input));
  }
  return nvjet(problem, table);
}

class Nvjet final : public Family {
 public:
  explicit Nvjet(NvjetTable table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override { return std::holds_alternative<GemmCall>(call); }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    return candidates_of(std::get<GemmCall>(call), table_, chip);
  }

 private:
  NvjetTable table_;
};

}  // namespace

std::unique_ptr<Family> read_nvjet(machine::NumberFile& file) {
  return std::make_unique<Nvjet>(read_table(file));
}

}  // namespace orrery::library
