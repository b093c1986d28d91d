// Attention on matrix cores of CDNA chips: tiles, splits, counts.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/mfma_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "orrery/library/attention_counts.h"
#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;
using machine::Unit;

constexpr int64_t kThreads = 256;
constexpr int64_t kRows = 128;   // of a tile of many queries
constexpr int64_t kKeys = 64;    // of a block
constexpr int64_t kMatrix = 16;  // rows of the smallest MFMA instruction
constexpr int64_t kResidents = 2;

struct Constants {
  double tensor_share = 1;
  double exponentials = 1;  // per score, with what else keeps the lanes
  double block = 0;         // clocks of a block of keys beside its products and exponentials
  double unit = 0;          // clocks of a tile
  double unit_decode = 0;   // the same of few queries
  double fill = 1;          // bytes per clock that one workgroup draws
  double dram_share = 1;    // of few queries
  double overlap = 1;
  double error = 0;
  double error_decode = 0;
};

// How the heads and queries of a call lie in tiles.
struct Launch {
  int64_t rows = kRows;
  int64_t queries = 0;
  double heads = 0;  // batch x (query or key) heads
  int64_t splits = 1;
  bool decode = false;
};

Launch launch_of(const AttentionCall& call, const machine::Chip& chip) {
  const int64_t group = call.heads / call.kv_heads;
  Launch launch;
  launch.decode = call.seq_q * group <= kRows && call.seq_q < kMatrix && call.lengths.empty();
  if (!launch.decode) {
    launch.queries = call.seq_q;
    launch.heads = product(call.batch, call.heads);
    return launch;
  }
  launch.queries = call.seq_q * group;
  launch.rows = ceil_div(launch.queries, kMatrix) * kMatrix;
  launch.heads = product(call.batch, call.kv_heads);
  const double slots = static_cast<double>(kResidents * chip.core.count);
  constexpr int64_t kLeast = 4;  // blocks of a split
  const int64_t reach = call.window > 0 ? std::min(call.seq_kv, call.window) : call.seq_kv;
  const int64_t most = std::max<int64_t>(1, ceil_div(reach, kLeast * kKeys));
  launch.splits = std::clamp<int64_t>(whole(std::floor(slots / launch.heads)), 1, most);
  return launch;
}

// Keys and values of a block.
double key_bytes(const AttentionCall& call, double dims) {
  return key_element(call) * static_cast<double>(kKeys) * dims;
}

ProfilePhase block_phase(const AttentionCall& call,
                         const Launch& launch,
                         const Constants& constants) {
  const double scores = product(launch.rows, kKeys);
  const auto dims = static_cast<double>(call.head_dim + value_dim(call));
  ProfilePhase phase;
  phase.name = "main loop";
  phase.ring = 2;
  phase.work.tensor = Flops(2 * scores * dims);
  phase.work.tensor_type = call.dtype;
  phase.work.tensor_share = constants.tensor_share;
  phase.work.special = constants.exponentials * scores;
  // Keys and values come while the block before is worked on.
  phase.chain.fixed = Cycles(key_bytes(call, dims) / constants.fill);
  return phase;
}

ProfilePhase waiting(std::string_view name, double trips, double clocks) {
  ProfilePhase phase;
  phase.name = name;
  phase.trips = trips;
  phase.chain.fixed = Cycles(clocks);
  return phase;
}

std::vector<TileGroup> groups_of(const AttentionCall& call, const Launch& launch) {
  constexpr int64_t kGroups = 8;
  Tiling tiling{.rows = launch.rows,
                .keys = kKeys,
                .queries = launch.queries,
                .key_count = call.seq_kv,
                .causal = call.causal && !launch.decode,
                .window = launch.decode ? 0 : call.window,
                .masked_steps = 0};
  if (launch.decode) {
    const int64_t reach = call.window > 0 ? std::min(call.seq_kv, call.window) : call.seq_kv;
    const int64_t blocks = ceil_div(ceil_div(reach, kKeys), launch.splits);
    return {{static_cast<double>(launch.splits), {static_cast<double>(blocks), 0}}};
  }
  if (call.lengths.empty()) {
    return tile_groups(tiling, kGroups);
  }
  std::vector<TileGroup> all;
  for (size_t i = 0; i < call.lengths.size(); ++i) {
    tiling.queries = call.lengths[i];
    tiling.key_count = call.key_lengths.empty() ? call.lengths[i] : call.key_lengths[i];
    const auto groups = tile_groups(tiling, 2);
    all.insert(all.end(), groups.begin(), groups.end());
  }
  return all;
}

Profile forward(const AttentionCall& call,
                const Launch& launch,
                const Constants& constants,
                const machine::Chip& chip) {
  const double copies = call.lengths.empty() ? launch.heads : static_cast<double>(call.heads);
  const ProfilePhase block = block_phase(call, launch, constants);
  const double unit = launch.decode ? constants.unit_decode : constants.unit;
  std::vector<kernel::UnitKind> kinds;
  const auto dims = static_cast<double>(call.head_dim + value_dim(call));
  double read = 0;
  for (const auto& group : groups_of(call, launch)) {
    const double count = group.tiles * copies;
    kernel::UnitKind kind = unit_of(count,
                                    group.mean.blocks,
                                    waiting("first operands", 1, unit),
                                    block,
                                    waiting("blocks", group.mean.blocks, constants.block));
    kinds.push_back(std::move(kind));
    read += count * group.mean.blocks * key_bytes(call, dims);
  }
  Profile profile;
  profile.kernel = launch.decode ? "fmha_fwd_splitkv" : "fmha_fwd";
  profile.family = "attention";
  profile.threads = kThreads;
  profile.ctas_per_sm = kResidents;
  set_units(profile, std::move(kinds));
  profile.rounds = profile.kinds.size() > 1 ? copies : 0;
  profile.traffic = call.key_lengths.empty() ? attention_traffic(call) : packed_traffic(call, chip);
  profile.traffic.l2_read = Bytes(query_bytes(call) + read);
  profile.behaviour.overlap = constants.overlap;
  profile.behaviour.pipe_overlap = 1;
  profile.behaviour.dram_share = launch.decode ? constants.dram_share : 1;
  profile.behaviour.relative_error = launch.decode ? constants.error_decode : constants.error;
  return profile;
}

// Reads the splits' partial results and their sums, writes the output.
Profile combine(const AttentionCall& call, const Launch& launch, const Constants& constants) {
  constexpr double kPartial = 4;
  const double rows = product(call.batch, call.heads, call.seq_q);
  const double partials = rows * product(launch.splits, value_dim(call), kPartial);
  Profile profile;
  profile.kernel = "fmha_fwd_splitkv_combine";
  profile.family = "attention";
  profile.threads = kThreads;
  profile.ctas_per_sm = 4;
  const auto splits = static_cast<double>(launch.splits);
  ProfilePhase phase = waiting("splits", 1, constants.unit_decode);
  phase.work.l2_read = Bytes(splits * static_cast<double>(value_dim(call)) * kPartial);
  set_units(profile, {{rows, {phase}}});
  profile.traffic = streamed(partials, output_bytes(call));
  profile.traffic.scratch_read = Bytes(partials);
  profile.behaviour.relative_error = constants.error_decode;
  profile.reasons.push_back(fmt::format("adds {} splits", launch.splits));
  return profile;
}

class MfmaAttention final : public Family {
 public:
  explicit MfmaAttention(machine::NumberFile& file)
      : constants_{.tensor_share = file.number("mfma_attention.tensor_share", Unit::One),
                   .exponentials = one(file, "mfma_attention.exponentials"),
                   .block = cycles(file, "mfma_attention.block"),
                   .unit = cycles(file, "mfma_attention.unit"),
                   .unit_decode = cycles(file, "mfma_attention.unit_decode"),
                   .fill = file.number("mfma_attention.fill", Unit::BytesPerCycle),
                   .dram_share = file.number("mfma_attention.dram_share", Unit::One),
                   .overlap = file.number("mfma_attention.overlap", Unit::One),
                   .error = error_of(file, "mfma_attention"),
                   .error_decode = one(file, "mfma_attention.error_decode")} {}

  bool serves(const Call& call) const override {
    const auto* attention = std::get_if<AttentionCall>(&call);
    return attention != nullptr && !attention->backward;
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& attention = std::get<AttentionCall>(call);
    ORR_TRY_VOID(check_attention(attention, chip));
    const Launch launch = launch_of(attention, chip);
    std::vector<Profile> sequence{forward(attention, launch, constants_, chip)};
    Profile& profile = sequence.front();
    profile.reasons.push_back(fmt::format("tiles of {} rows, blocks of {} keys, {} split{}",
                                          launch.rows,
                                          kKeys,
                                          launch.splits,
                                          launch.splits > 1 ? "s" : ""));
    if (launch.splits > 1) {
      const Profile sum = combine(attention, launch, constants_);
      profile.traffic.unique_write = sum.traffic.unique_read;
      profile.traffic.dram_write = sum.traffic.unique_read;
      profile.traffic.l2_write = sum.traffic.unique_read;
      sequence.push_back(sum);
    }
    return Candidates{std::move(sequence)};
  }

 private:
  Constants constants_;
};

}  // namespace

std::unique_ptr<Family> read_mfma_attention(machine::NumberFile& file) {
  return std::make_unique<MfmaAttention>(file);
}

}  // namespace orrery::library
