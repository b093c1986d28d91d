// tinygemm: counts of one chunk of k, from the kernel's source.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/tinygemm.h"

#include <algorithm>
#include <string>

#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

constexpr double kWarps = 8;
constexpr int64_t kTileM = 16;
constexpr int64_t kTileN = 8;
constexpr double kChunk = 128;    // of k, of a warp: 8 k-tiles of 16
constexpr double kLoadsOfA = 32;  // 4 a k-tile, half of them for rows 0 to 7, half for 8 to 15
constexpr double kLinesOfB = 5;   // a load of 16 bytes a lane, one of scale and zero
constexpr double kGroup = 128;    // of k, that share a scale and a zero
constexpr double kLine = 128;     // bytes: a wavefront of L1 moves at most one line

// Cache lines that the loads of a chunk touch, a clock each.
double lines(int64_t rows) {
  const auto low = static_cast<double>(std::min<int64_t>(rows, 8));
  const auto high = static_cast<double>(std::clamp<int64_t>(rows - 8, 0, 8));
  return kLoadsOfA / 2 * (low + high) + kLinesOfB;
}

struct Constants {
  double instructions = 0;  // of a warp and chunk
  double pipe_overlap = 0;
  double warp_share = 1;
  double error = 0;
};

ProfilePhase chunks(const GemmCall& call, const Constants& constants) {
  const int64_t rows = std::min(call.m, kTileM);
  ProfilePhase phase;
  phase.name = "chunks of k";
  phase.trips = static_cast<double>(call.k) / (kChunk * kWarps);
  phase.chain.memory = 1;
  phase.work.tensor = Flops(kWarps * 2 * product(kTileM, kTileN) * kChunk);
  phase.work.tensor_type = call.input;
  phase.work.tensor_share = constants.warp_share;
  phase.work.issue = Instructions(kWarps * constants.instructions);
  phase.work.shared_read = Bytes(kWarps * lines(rows) * kLine);
  phase.work.l2_read = Bytes(kWarps * product(kTileN) * kChunk * (0.5 + 4 / kGroup));
  return phase;
}

ProfilePhase sum(const GemmCall& call) {
  ProfilePhase phase;
  phase.name = "sum of warps";
  phase.chain.barriers = 1;
  phase.chain.shared = kWarps + 1;
  phase.work.l2_write = Bytes(product(std::min(call.m, kTileM), kTileN) * 2);
  return phase;
}

Profile profile_of(const GemmCall& call, const Constants& constants, const machine::Chip& chip) {
  Profile profile;
  profile.kernel = "tinygemm_m16n8k16_chunk_kernel";
  profile.family = "gemm";
  profile.threads = static_cast<int64_t>(kWarps) * chip.core.warp_size;
  profile.ctas_per_sm = occupancy(chip.core, profile.threads, 64, 4096);
  const double units = product(ceil_div(call.m, kTileM), ceil_div(call.n, kTileN));
  set_units(profile, {{units, {chunks(call, constants), sum(call)}}});
  const double rows = product(call.m, call.k) * 2;
  const double weights = product(call.n, call.k) * (0.5 + 4 / kGroup);
  const double written = product(call.m, call.n) * 2;
  profile.traffic = {
      .unique_read = Bytes(rows + weights),
      .recent_read = Bytes(rows),
      .unique_write = Bytes(written),
      .dram_read = Bytes(rows + weights),
      .dram_write = Bytes(written),
      .l2_read = Bytes(rows + weights * static_cast<double>(ceil_div(call.m, kTileM))),
      .l2_write = Bytes(written)};
  profile.behaviour = {.pipe_overlap = constants.pipe_overlap, .relative_error = constants.error};
  profile.reasons.push_back("torch._weight_int4pack_mm has this kernel only: int4mm.cu");
  return profile;
}

class Tinygemm final : public Family {
 public:
  explicit Tinygemm(machine::NumberFile& file)
      : constants_{.instructions = one(file, "tinygemm.instructions"),
                   .pipe_overlap = one(file, "tinygemm.pipe_overlap"),
                   .warp_share = one(file, "tinygemm.warp_share"),
                   .error = error_of(file, "tinygemm")} {}

  bool serves(const Call& call) const override {
    const auto* gemm = std::get_if<GemmCall>(&call);
    return gemm != nullptr && gemm->quantisation == Quantisation::Int4Weights &&
           gemm->backend.empty();
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& gemm = std::get<GemmCall>(call);
    if (gemm.batch != 1 || gemm.k % 1024 % 128 != 0 || gemm.n % kTileN != 0) {
      return make_error(
          ErrorCode::Unsupported,
          "[library.tinygemm] sizes: got batch = {}, n = {}, k = {}, need one product, "
          "n a multiple of 8 and k of 128",
          gemm.batch,
          gemm.n,
          gemm.k);
    }
    if (chip.core.tensor.find(gemm.input) == chip.core.tensor.end()) {
      return make_error(ErrorCode::Unsupported,
                        "[library.tinygemm] {} has no matrix rate for {}",
                        chip.id,
                        orrery::name(gemm.input));
    }
    return Candidates{{profile_of(gemm, constants_, chip)}};
  }

 private:
  Constants constants_;
};

}  // namespace

std::unique_ptr<Family> read_tinygemm(machine::NumberFile& file) {
  return std::make_unique<Tinygemm>(file);
}

}  // namespace orrery::library
