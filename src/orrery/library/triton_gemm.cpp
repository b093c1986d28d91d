// Triton's tiled products: names, geometry, and work, as the source and the compiler's layouts say.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/triton_gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/gemm_types.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;
using machine::NumberFile;
using machine::Unit;

constexpr std::array<std::string_view, 3> kLoads = {"ptr", "tma", "persist"};
constexpr double kElement = 2;     // bytes: bf16, fp16
constexpr double kCopy = 16;       // bytes of a lane's cp.async
constexpr double kMmaRows = 64;    // of wgmma
constexpr int64_t kMmaCols = 256;  // at most

// A number with the text before it, which is eaten: take("x256", "x").
bool take(std::string_view& text, std::string_view before, int64_t& value) {
  constexpr int64_t kMost = 1 << 20;
  if (!text.starts_with(before)) {
    return false;
  }
  text.remove_prefix(before.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc() && value >= 0 && value <= kMost;
}

int64_t accumulators(const TritonGemm& kernel) {
  return kernel.m * kernel.n / (32 * kernel.warps);
}

// Of a thread and step.
double copies(const TritonGemm& kernel) {
  return product(kernel.m + kernel.n, kernel.step) * kElement / kCopy /
         static_cast<double>(32 * kernel.warps);
}

// The compiled kernels of 44 tiles: accumulators and 26 more; an address and a half a copy.
int64_t usual_registers(const TritonGemm& kernel) {
  constexpr int64_t kBeside = 26;
  constexpr int64_t kMost = 255;
  const double addresses = kernel.loads == TritonLoads::Pointers ? 2.2 * copies(kernel) : 0;
  return std::min(kMost, accumulators(kernel) + kBeside + static_cast<int64_t>(addresses));
}

int64_t usual_shared(const TritonGemm& kernel) {
  constexpr int64_t kBarrier = 8;
  const int64_t ring = kernel.stages * (kernel.m + kernel.n) * kernel.step * 2;
  switch (kernel.loads) {
    case TritonLoads::Pointers:
      return ring;
    case TritonLoads::Descriptors:
      return ring + kernel.stages * kBarrier;
    case TritonLoads::Persistent:
      return ring + kernel.stages * kBarrier + kernel.m * kernel.n * 2;
  }
  return ring;
}

struct Constants {
  double fixed_pointers = 0;  // us
  double fixed_descriptors = 0;
  double tensor_share = 1;
  double copy = 0;
  double step = 0;
  double prologue = 0;
  double epilogue = 0;
  double epilogue_fixed = 0;
  double narrow = 1;
  double edge = 1;
  double again = 1;
  double neighbours = 1;
  double waits_pointers = 1;
  double turn_pointers = 0;
  double turn_descriptors = 0;
  double dram_share = 1;
  double overlap = 1;
  double restart = 0;
  double error = 0;
};

Constants read_constants(NumberFile& file) {
  const auto number = [&](std::string_view key) {
    return one(file, fmt::format("triton_gemm.{}", key));
  };
  const auto clocks = [&](std::string_view key) {
    return cycles(file, fmt::format("triton_gemm.{}", key));
  };
  Constants all;
  all.fixed_pointers = duration(file, "triton_gemm.fixed_pointers").seconds().value();
  all.fixed_descriptors = duration(file, "triton_gemm.fixed_descriptors").seconds().value();
  all.tensor_share = number("tensor_share");
  all.copy = number("copy");
  all.step = number("step");
  all.prologue = clocks("prologue");
  all.epilogue = number("epilogue");
  all.epilogue_fixed = clocks("epilogue_fixed");
  all.narrow = number("narrow");
  all.edge = number("edge");
  all.again = number("again");
  all.neighbours = number("neighbours");
  all.waits_pointers = number("waits_pointers");
  all.turn_pointers = clocks("turn_pointers");
  all.turn_descriptors = clocks("turn_descriptors");
  all.dram_share = number("dram_share");
  all.overlap = number("overlap");
  all.restart = clocks("restart");
  all.error = error_of(file, "triton_gemm");
  return all;
}

// A launch in numbers.
struct Sizes {
  int64_t rows = 0;  // of tiles
  int64_t columns = 0;
  double tiles = 0;
  double steps = 0;
  double residents = 1;
  double row_bytes = 0;     // of a tile of A and step, drawn from L2: descriptors stop at the edge
  double column_bytes = 0;  // of B
  double edge_rows = 1;     // L2's work per byte of A, more where boxes reach beyond its edge
  double edge_columns = 1;
};

// Of boxes of `side` along `extent`, the last of which may reach beyond it: work per byte drawn.
double edge_work(int64_t extent, int64_t side, double edge) {
  const int64_t boxes = ceil_div(extent, side);
  if (extent % side == 0) {
    return 1;
  }
  const auto whole_boxes = static_cast<double>(boxes - 1);
  return (whole_boxes + edge) * static_cast<double>(side) / static_cast<double>(extent);
}

// Of tiles whose pointers wrap at the end of the operand: rows that come again are the same lines.
double again_work(int64_t extent, int64_t side, double again) {
  const auto drawn = static_cast<double>(ceil_div(extent, side) * side);
  return 1 + (again - 1) * (1 - static_cast<double>(extent) / drawn);
}

Sizes sizes_of(const TritonGemm& kernel,
               const GemmCall& call,
               const Constants& constants,
               const machine::Chip& chip) {
  Sizes sizes;
  sizes.rows = ceil_div(call.m, kernel.m);
  sizes.columns = ceil_div(call.n, kernel.n);
  sizes.tiles = product(sizes.rows, sizes.columns);
  sizes.steps = static_cast<double>(ceil_div(call.k, kernel.step));
  sizes.residents = static_cast<double>(occupancy(chip.core,
                                                  kernel.warps * chip.core.warp_size,
                                                  kernel.registers,
                                                  static_cast<double>(kernel.shared)));
  const bool clipped = kernel.loads != TritonLoads::Pointers;
  const double rows = clipped ? static_cast<double>(call.m) / static_cast<double>(sizes.rows)
                              : static_cast<double>(kernel.m);
  const double columns = clipped ? static_cast<double>(call.n) / static_cast<double>(sizes.columns)
                                 : static_cast<double>(kernel.n);
  const double step = product(kernel.step) * kElement;
  sizes.row_bytes = rows * step;
  sizes.column_bytes = columns * step;
  if (clipped) {
    sizes.edge_rows = edge_work(call.m, kernel.m, constants.edge);
    sizes.edge_columns = edge_work(call.n, kernel.n, constants.edge);
  } else {
    sizes.edge_rows = again_work(call.m, kernel.m, constants.again);
    sizes.edge_columns = again_work(call.n, kernel.n, constants.again);
  }
  return sizes;
}

// Bytes of shared memory that the matrix units read in a step: an instruction reads its 64 rows and
// all its columns.
double operand_reads(const TritonGemm& kernel) {
  const auto row_warps = std::max<int64_t>(1, kernel.m / 16);
  const auto column_groups = std::max<int64_t>(1, kernel.warps / row_warps);
  const auto columns = std::min(kMmaCols, std::max<int64_t>(8, kernel.n / column_groups));
  const double instructions = std::max(1.0, static_cast<double>(kernel.m) / kMmaRows) *
                              static_cast<double>(ceil_div(kernel.n, columns));
  return instructions * (kMmaRows + static_cast<double>(columns)) * product(kernel.step) * kElement;
}

// Registers beside those that a thread has go to local memory and back once a step.
double spilled(const TritonGemm& kernel) {
  return product(kernel.spills, kernel.warps, 32);
}

// What a step costs L2 as a whole: CTAs that start together, on SMs side by side, ask for the same
// tile at the same time, which L2 answers for `neighbours` of its bytes. Down a band they share B;
// where there is only one row of tiles, A.
double drawn_together(const TritonGemm& kernel, const Sizes& sizes, const Constants& constants) {
  const bool down = std::min(kernel.group, sizes.rows) > 1;
  const double narrow = product(kernel.step) * kElement < 128 ? constants.narrow : 1;
  return narrow * (sizes.row_bytes * sizes.edge_rows * (down ? 1 : constants.neighbours) +
                   sizes.column_bytes * sizes.edge_columns * (down ? constants.neighbours : 1));
}

ProfilePhase main_loop(const TritonGemm& kernel,
                       const GemmCall& call,
                       const Sizes& sizes,
                       const Constants& constants) {
  const bool pointers = kernel.loads == TritonLoads::Pointers;
  const auto warps = static_cast<double>(kernel.warps);
  const double row = product(kernel.step) * kElement;
  ProfilePhase phase;
  phase.name = "main loop";
  phase.trips = sizes.steps;
  phase.ring = kernel.stages;
  phase.work.tensor = Flops(2 * product(kernel.m, kernel.n, kernel.step));
  phase.work.tensor_type = call.input;
  phase.work.tensor_share = constants.tensor_share;
  phase.work.issue =
      Instructions(warps * (constants.step + (pointers ? copies(kernel) * constants.copy : 0)));
  phase.work.shared_read = Bytes(operand_reads(kernel) + spilled(kernel));
  phase.work.shared_write = Bytes(product(kernel.m + kernel.n) * row + spilled(kernel));
  phase.work.l2_read = Bytes(drawn_together(kernel, sizes, constants));
  phase.chain.memory = pointers ? constants.waits_pointers : 1;
  // Each group of four warps multiplies its own rows, and a step ends when both have.
  const double groups = std::max(1.0, warps / 4);
  phase.chain.turn =
      Cycles(groups * (pointers ? constants.turn_pointers : constants.turn_descriptors));
  return phase;
}

std::vector<ProfilePhase> phases_of(const TritonGemm& kernel,
                                    const GemmCall& call,
                                    const Sizes& sizes,
                                    const Constants& constants) {
  std::vector<ProfilePhase> phases{main_loop(kernel, call, sizes, constants)};
  if (kernel.loads != TritonLoads::Persistent) {
    ProfilePhase start;
    start.name = "prologue";
    start.chain.fixed = Cycles(constants.prologue);
    phases.push_back(std::move(start));
  }
  const double elements = product(kernel.m, kernel.n);
  ProfilePhase store;
  store.name = "epilogue";
  store.work.issue = Instructions(elements * constants.epilogue);
  store.work.shared_write = Bytes(elements * kElement);
  store.work.shared_read = Bytes(elements * kElement);
  store.work.l2_write = Bytes(product(call.m, call.n) * kElement / sizes.tiles);
  store.chain.fixed = Cycles(constants.epilogue_fixed);
  phases.push_back(std::move(store));
  return phases;
}

// Reads from DRAM where A and B exceed L2. Tiles run in bands of `group` rows, each over all
// columns: the rows of a band stay, B comes again for each band as far as it does not fit beside
// them.
double dram_read(const TritonGemm& kernel,
                 const GemmCall& call,
                 const Sizes& sizes,
                 const machine::Chip& chip) {
  const double a = product(call.m, call.k) * kElement;
  const double b = product(call.n, call.k) * kElement;
  const double capacity = chip.l2.effective.value();
  if (a + b <= capacity) {
    return a + b;
  }
  const auto band_rows = static_cast<double>(std::min(kernel.group, sizes.rows));
  const double bands = std::ceil(static_cast<double>(sizes.rows) / band_rows);
  const double band = a / bands;
  const double left = std::max(0.0, b + band - capacity);
  const double again = std::min(1.0, left / (0.5 * b));
  return a + b + (bands - 1) * b * again;
}

kernel::Traffic traffic_of(const TritonGemm& kernel,
                           const GemmCall& call,
                           const Sizes& sizes,
                           const Constants& constants,
                           const machine::Chip& chip) {
  const double a = product(call.m, call.k) * kElement;
  const double b = product(call.n, call.k) * kElement;
  const double written = product(call.m, call.n) * kElement;
  return {.unique_read = Bytes(a + b),
          .recent_read = Bytes(a),
          .unique_write = Bytes(written),
          .dram_read = Bytes(dram_read(kernel, call, sizes, chip)),
          .dram_write = Bytes(written),
          .l2_read = Bytes(sizes.tiles * sizes.steps * drawn_together(kernel, sizes, constants)),
          .l2_write = Bytes(written)};
}

kernel::Traversal traversal_of(const TritonGemm& kernel, const Sizes& sizes) {
  kernel::Traversal traversal;
  traversal.order.tiles = {sizes.rows, sizes.columns};
  traversal.order.group = std::min(kernel.group, sizes.rows);
  traversal.reads.push_back(
      {.name = "a", .tile = Bytes(sizes.row_bytes), .axes = {0}, .steps = true, .recent = true});
  traversal.reads.push_back(
      {.name = "b", .tile = Bytes(sizes.column_bytes), .axes = {1}, .steps = true});
  return traversal;
}

Profile profile_of(const TritonGemm& kernel,
                   const GemmCall& call,
                   const Constants& constants,
                   const machine::Chip& chip) {
  const Sizes sizes = sizes_of(kernel, call, constants, chip);
  const bool persistent = kernel.loads == TritonLoads::Persistent;
  Profile profile;
  profile.kernel = to_text(kernel);
  profile.family = "gemm";
  profile.threads = kernel.warps * chip.core.warp_size;
  profile.ctas_per_sm = persistent ? 1 : static_cast<int64_t>(sizes.residents);
  set_units(profile, {{sizes.tiles, phases_of(kernel, call, sizes, constants)}});
  if (persistent) {
    profile.ctas = std::min(profile.units, chip.core.count);
  }
  profile.traffic = traffic_of(kernel, call, sizes, constants, chip);
  profile.traversal = traversal_of(kernel, sizes);
  profile.fixed =
      Duration::from(Seconds(kernel.loads == TritonLoads::Pointers ? constants.fixed_pointers
                                                                   : constants.fixed_descriptors));
  profile.behaviour = {.overlap = constants.overlap,
                       .dram_share = constants.dram_share,
                       .restart = Cycles(constants.restart),
                       .relative_error = constants.error};
  profile.reasons.push_back(
      fmt::format("named: {} tiles, {} CTAs an SM by registers and shared memory",
                  whole(sizes.tiles),
                  whole(sizes.residents)));
  return profile;
}

class TritonProducts final : public Family {
 public:
  explicit TritonProducts(NumberFile& file) : constants_(read_constants(file)) {}

  bool serves(const Call& call) const override {
    const auto* gemm = std::get_if<GemmCall>(&call);
    return gemm != nullptr && gemm->quantise == QuantiseA::None && gemm->backend == "triton" &&
           gemm->kernel.starts_with("triton_");
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& gemm = std::get<GemmCall>(call);
    const bool half = gemm.input == DType::BF16 || gemm.input == DType::F16;
    const bool plain = gemm.batch == 1 && gemm.layout == GemmLayout::NT &&
                       gemm.quantisation == Quantisation::None && gemm.output == gemm.input;
    if (!half || !plain || !chip.architecture.starts_with("sm_90")) {
      return make_error(ErrorCode::Unsupported,
                        "[library.triton_gemm] kernel: got {} {} on {}, need one product of bf16 "
                        "or f16, k contiguous in both, on sm_90",
                        types_name(gemm),
                        name(gemm.layout),
                        chip.architecture);
    }
    const auto kernel = parse_triton_gemm(gemm.kernel);
    if (!kernel) {
      return make_error(ErrorCode::NotFound,
                        "[library.triton_gemm] kernel: got '{}', need a name like "
                        "triton_ptr_128x256x64_4_w8_g8",
                        gemm.kernel);
    }
    if (Bytes(static_cast<double>(kernel->shared)) > chip.core.shared_per_cta) {
      return make_error(ErrorCode::Unsupported,
                        "[library.triton_gemm] {}: got {} bytes of shared memory, need at most {}",
                        gemm.kernel,
                        kernel->shared,
                        chip.core.shared_per_cta.value());
    }
    return Candidates{{profile_of(*kernel, gemm, constants_, chip)}};
  }

  bool takes_names() const override { return true; }

 private:
  Constants constants_;
};

}  // namespace

std::optional<TritonGemm> parse_triton_gemm(std::string_view name) {
  constexpr std::string_view kBegin = "triton_";
  if (!name.starts_with(kBegin)) {
    return std::nullopt;
  }
  std::string_view text = name.substr(kBegin.size());
  const auto loads = std::find(
      kLoads.begin(), kLoads.end(), text.substr(0, std::min(text.size(), text.find('_'))));
  if (loads == kLoads.end()) {
    return std::nullopt;
  }
  text.remove_prefix(loads->size());
  TritonGemm kernel;
  kernel.loads = static_cast<TritonLoads>(loads - kLoads.begin());
  if (!take(text, "_", kernel.m) || !take(text, "x", kernel.n) || !take(text, "x", kernel.step) ||
      !take(text, "_", kernel.stages) || !take(text, "_w", kernel.warps) ||
      !take(text, "_g", kernel.group)) {
    return std::nullopt;
  }
  const bool tiles = kernel.m >= 64 && kernel.n >= 8 && kernel.step >= 16 && kernel.m <= 1024 &&
                     kernel.n <= 1024 && kernel.step <= 1024;
  const bool counts = kernel.stages >= 1 && kernel.stages <= 16 && kernel.group >= 1 &&
                      (kernel.warps == 4 || kernel.warps == 8 || kernel.warps == 16);
  if (!tiles || !counts) {
    return std::nullopt;
  }
  kernel.registers = usual_registers(kernel);
  kernel.shared = usual_shared(kernel);
  take(text, "_r", kernel.registers);
  take(text, "_s", kernel.spills);
  take(text, "_b", kernel.shared);
  return text.empty() && kernel.registers > 0 ? std::optional(kernel) : std::nullopt;
}

std::string to_text(const TritonGemm& kernel) {
  return fmt::format("triton_{}_{}x{}x{}_{}_w{}_g{}_r{}_s{}_b{}",
                     kLoads[static_cast<size_t>(kernel.loads)],
                     kernel.m,
                     kernel.n,
                     kernel.step,
                     kernel.stages,
                     kernel.warps,
                     kernel.group,
                     kernel.registers,
                     kernel.spills,
                     kernel.shared);
}

std::unique_ptr<Family> read_triton_gemm(NumberFile& file) {
  return std::make_unique<TritonProducts>(file);
}

}  // namespace orrery::library
