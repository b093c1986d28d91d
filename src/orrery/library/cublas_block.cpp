// Block-scaled products: tiles, promotion and traffic.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/cublas_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "orrery/library/counts.h"
#include "orrery/library/gemm_types.h"
#include "orrery/library/split_sum.h"

namespace orrery::library {
namespace {

constexpr double kPartial = 4;  // bytes of an element of a slice

using kernel::Profile;
using kernel::ProfilePhase;

struct Tile {
  int64_t m = 128;
  int64_t n = 128;
  int64_t step = 128;  // of k
  int64_t stages = 5;
};

struct Constants {
  double tensor_share = 1;
  Duration fixed;
  double error = 0;
};

double tiles_of(const GemmCall& call, const Tile& tile) {
  return product(call.batch, ceil_div(call.m, tile.m), ceil_div(call.n, tile.n));
}

// One k-step: pairs of CTAs along n share the rows of A.
ProfilePhase main_loop(const GemmCall& call,
                       const Tile& tile,
                       const Constants& constants,
                       int64_t slices) {
  const double element = element_size(call.input).value();
  ProfilePhase phase;
  phase.name = "main loop";
  phase.trips = static_cast<double>(ceil_div(ceil_div(call.k, tile.step), slices));
  phase.ring = tile.stages;
  phase.chain.memory = 1;
  phase.work.tensor = Flops(2 * product(tile.m, tile.n, tile.step));
  phase.work.tensor_type = call.input;
  phase.work.tensor_share = constants.tensor_share;
  phase.work.l2_read = Bytes((static_cast<double>(tile.m) / 2 + static_cast<double>(tile.n)) *
                             static_cast<double>(tile.step) * element);
  return phase;
}

ProfilePhase epilogue(const Tile& tile, double element) {
  ProfilePhase phase;
  phase.name = "epilogue";
  phase.work.l2_write = Bytes(product(tile.m, tile.n) * element);
  return phase;
}

kernel::Traffic traffic_of(const GemmCall& call,
                           const Tile& tile,
                           const machine::Chip& chip,
                           int64_t slices) {
  const double rows = activation_bytes(call).value();
  const double unique = rows + weight_bytes(call).value();
  const double written = slices > 1 ? product(call.batch, call.m, call.n, slices, kPartial)
                                    : result_bytes(call).value();
  const double tiles = tiles_of(call, tile);
  double read = unique;
  if (unique > chip.l2.effective.value()) {  // a wave is a square patch of C; the next reads anew
    const auto wave = static_cast<double>(chip.core.count);
    const double side = std::sqrt(wave * product(tile.m, tile.n));
    const double side_n = std::min(side, static_cast<double>(call.n));
    const double side_m = std::min(side * side / side_n, static_cast<double>(call.m));
    const double patch = (side_n + side_m) * product(call.k) * element_size(call.input).value();
    read = std::max(unique, std::max(1.0, tiles / wave) * patch);
  }
  const double drawn = (static_cast<double>(tile.m) / 2 + static_cast<double>(tile.n)) *
                       product(call.k) * element_size(call.input).value();
  return {.unique_read = Bytes(unique),
          .recent_read = Bytes(rows),
          .unique_write = Bytes(written),
          .dram_read = Bytes(read),
          .dram_write = Bytes(written),
          .l2_read = Bytes(tiles * drawn),
          .l2_write = Bytes(written)};
}

Profile profile_of(const GemmCall& call,
                   const Tile& tile,
                   const Constants& constants,
                   const machine::Chip& chip,
                   int64_t slices = 1) {
  Profile profile;
  profile.kernel = fmt::format("{}_{}x{}x{}", types_name(call), tile.m, tile.n, tile.step);
  profile.family = "gemm";
  profile.threads = 384;
  const double units = tiles_of(call, tile) * static_cast<double>(slices);
  const double element = slices > 1 ? kPartial : element_size(call.output).value();
  profile.units = whole(units);
  profile.ctas = std::min(profile.units, chip.core.count);
  profile.kinds.push_back(
      {units, {main_loop(call, tile, constants, slices), epilogue(tile, element)}});
  profile.traffic = traffic_of(call, tile, chip, slices);
  profile.fixed = constants.fixed;
  profile.behaviour.relative_error = constants.error;
  return profile;
}

class Fp8Block final : public Family {
 public:
  explicit Fp8Block(machine::NumberFile& file)
      : constants_{.tensor_share = one(file, "fp8_block.tensor_share"),
                   .fixed = duration(file, "fp8_block.fixed"),
                   .error = error_of(file, "fp8_block")},
        wait_(cycles(file, "fp8_block.wait")),
        sum_(read_split_sum(file)) {}

  bool serves(const Call& call) const override {
    const auto* gemm = std::get_if<GemmCall>(&call);
    return gemm != nullptr && gemm->quantisation == Quantisation::Block128 && gemm->backend.empty();
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& gemm = std::get<GemmCall>(call);
    const auto rate = chip.core.tensor.find(gemm.input);
    if (rate == chip.core.tensor.end()) {
      return make_error(ErrorCode::Unsupported,
                        "[library.fp8_block] {} has no matrix rate for {}",
                        chip.id,
                        orrery::name(gemm.input));
    }
    const int64_t slices = slices_of(gemm, chip);
    Profile profile = profile_of(gemm, kBlockTile, constants_, chip, slices);
    promote(profile.kinds.front().phases.front(), rate->second.value());
    profile.reasons.push_back("cuBLASLt has one tile for scales of 128-blocks");
    std::vector<Profile> sequence{std::move(profile)};
    if (slices > 1) {
      sequence.push_back(
          split_sum_profile(gemm, slices, kPartial, element_size(gemm.output).value(), sum_));
      sequence.back().behaviour.relative_error = constants_.error;
    }
    return Candidates{std::move(sequence)};
  }

 private:
  static constexpr Tile kBlockTile = {.m = 128, .n = 128, .step = 128, .stages = 6};

  // Two slices where half of the SMs would idle and k is deep: 2 of 2 launches with k from 14336
  // on, none of 16 up to 8192.
  static int64_t slices_of(const GemmCall& call, const machine::Chip& chip) {
    constexpr int64_t kDeep = 10000;
    const bool idle = 2 * tiles_of(call, kBlockTile) <= static_cast<double>(chip.core.count);
    return idle && call.k >= kDeep && call.batch == 1 ? 2 : 1;
  }

  // The promotion: 2 lane operations for each sum and step, and the chain of one warpgroup.
  void promote(ProfilePhase& loop, double rate) const {
    constexpr double kWarp = 32;
    const double sums = product(kBlockTile.m, kBlockTile.n);
    loop.work.fma = 2 * sums;
    loop.work.issue = Instructions(3 * sums / kWarp);
    loop.chain.fixed = Cycles(loop.work.tensor.value() / 2 / rate + wait_);
  }

  Constants constants_;
  double wait_ = 0;  // clocks of a step beside one warpgroup's product
  SplitSum sum_;
};

class Fp4 final : public Family {
 public:
  explicit Fp4(machine::NumberFile& file)
      : constants_{.tensor_share = one(file, "fp4.tensor_share"),
                   .fixed = duration(file, "fp4.fixed"),
                   .error = error_of(file, "fp4")} {}

  bool serves(const Call& call) const override {
    const auto* gemm = std::get_if<GemmCall>(&call);
    return gemm != nullptr && gemm->input == DType::F4E2M1 && gemm->backend.empty();
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& gemm = std::get<GemmCall>(call);
    if (chip.core.tensor.find(gemm.input) == chip.core.tensor.end()) {
      return make_error(ErrorCode::Unsupported,
                        "[library.fp4] {} has no matrix rate for f4e2m1: got dtype {}, need a chip "
                        "whose matrix unit takes fp4 (Blackwell, MI355X)",
                        chip.id,
                        types_name(gemm));
    }
    Candidates all;
    for (const auto& tile : kTiles) {
      all.push_back({profile_of(gemm, tile, constants_, chip)});
    }
    return all;
  }

 private:
  // A k-step is 128 bytes of a row; accumulators lie in tensor memory.
  static constexpr std::array<Tile, 4> kTiles = {Tile{128, 64, 256, 8},
                                                 Tile{128, 128, 256, 6},
                                                 Tile{128, 256, 256, 4},
                                                 Tile{256, 256, 256, 3}};
  Constants constants_;
};

}  // namespace

std::unique_ptr<Family> read_fp8_block(machine::NumberFile& file) {
  return std::make_unique<Fp8Block>(file);
}

std::unique_ptr<Family> read_fp4(machine::NumberFile& file) {
  return std::make_unique<Fp4>(file);
}

}  // namespace orrery::library
