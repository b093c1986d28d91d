// cuDNN's attention: a persistent wgmma kernel for many rows, two kernels for one.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/cudnn_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/attention_counts.h"
#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;
using machine::NumberFile;
using machine::Unit;

struct CudnnTable {
  double tensor_share = 1;
  double issue_per_score = 0;
  double pipe_overlap = 0;
  double turn = 0;
  double diagonal = 0;
  double unit = 0;
  Duration fixed;
  Duration decode_fixed;
  double decode_tensor_share = 1;
  double decode_block = 0;
  double decode_share_256 = 1;
  double decode_share_small = 1;
  Duration reduction_fixed;
  double error = 0;
};

std::vector<Profile> cudnn_prefill(const AttentionCall& call,
                                   const CudnnTable& table,
                                   const machine::Chip& chip) {
  const Tiling tiling{.rows = 128,
                      .keys = 128,
                      .queries = call.seq_q,
                      .key_count = call.seq_kv,
                      .causal = call.causal,
                      .window = call.window};
  const double scores = product(tiling.rows, tiling.keys);
  ProfilePhase block;
  block.name = "main loop";
  block.ring = 2;
  block.in_turn = true;
  block.chain.fixed = Cycles(table.turn);
  block.work.tensor = Flops(2 * scores * static_cast<double>(call.head_dim + value_dim(call)));
  block.work.tensor_type = call.dtype;
  block.work.tensor_share = table.tensor_share;
  block.work.special = scores;
  block.work.issue = Instructions(scores * table.issue_per_score);
  block.work.l2_read =
      Bytes(kAttentionElement * product(tiling.keys, call.head_dim + value_dim(call)));
  ProfilePhase rest;
  rest.name = "prologue and epilogue";
  rest.chain.fixed = Cycles(table.unit);
  Profile profile;
  profile.kernel = "cudnn_sdpa_sm90_flash_fprop_wgmma";
  profile.family = "attention";
  profile.behaviour.relative_error = table.error;
  profile.threads = 384;
  std::vector<kernel::UnitKind> kinds;
  for (const auto& group : tile_groups(tiling, 8)) {
    kernel::UnitKind kind{group.tiles * product(call.batch, call.heads), {block, rest}};
    const bool masked = call.causal || call.window > 0;
    kind.phases[0].trips = group.mean.blocks + (masked ? table.diagonal : 0);
    kinds.push_back(std::move(kind));
  }
  set_units(profile, std::move(kinds));
  profile.ctas = std::min(profile.units, chip.core.count);
  profile.traffic = attention_traffic(call);
  profile.extra_nodes = 1;  // a memset of its work counter
  profile.fixed = table.fixed;
  profile.behaviour.pipe_overlap = table.pipe_overlap;
  profile.behaviour.streams = 2;  // two groups of warps, 64 queries each
  return {std::move(profile)};
}

// The largest power of two that gives each slot a split: at most 64, at most the blocks of keys,
// only where the units leave half of the SMs idle (64 units of 132 SMs are split, 72 and 80 not)
// and there are more than four blocks of keys (512 keys are not split, 1024 are): 75 of 75
// launches.
int64_t cudnn_splits(double units, int64_t blocks, const machine::Chip& chip) {
  constexpr int64_t kWhole = 4;
  if (2 * units > static_cast<double>(chip.core.count) || blocks <= kWhole) {
    return 1;
  }
  const double most = std::min(
      {static_cast<double>(blocks), static_cast<double>(2 * chip.core.count) / units, 64.0});
  int64_t splits = 1;
  while (static_cast<double>(2 * splits) <= most) {
    splits *= 2;
  }
  return splits;
}

Profile cudnn_reduction(const AttentionCall& call, const CudnnTable& table, int64_t splits) {
  const double rows = product(call.batch, call.heads, call.seq_q);
  const double partials = rows * product(splits, call.head_dim, 4);
  Profile profile;
  profile.kernel = "lean_reduction_kernel";
  profile.family = "attention";
  profile.behaviour.relative_error = table.error;
  profile.threads = 256;
  profile.units = whole(rows);
  profile.ctas = profile.units;
  profile.ctas_per_sm = 8;
  ProfilePhase phase;
  phase.name = "sum";
  phase.chain.memory = 1;
  phase.work.l2_read = Bytes(partials / rows);
  profile.kinds.push_back({static_cast<double>(profile.units), {phase}});
  profile.traffic = {.unique_read = Bytes(partials),
                     .recent_read = Bytes(partials),
                     .unique_write = Bytes(query_bytes(call)),
                     .dram_read = Bytes(partials),
                     .dram_write = Bytes(query_bytes(call)),
                     .l2_read = Bytes(partials),
                     .l2_write = Bytes(query_bytes(call))};
  profile.fixed = table.reduction_fixed;
  return profile;
}

std::vector<Profile> cudnn_decode(const AttentionCall& call,
                                  const CudnnTable& table,
                                  const machine::Chip& chip) {
  const double units = product(call.batch, call.kv_heads);
  const bool small = call.seq_kv <= 64 || (call.seq_kv <= 256 && units < 128);
  const int64_t group = ceil_div(ceil_div(call.heads, call.kv_heads), 16);
  const int64_t keys = small ? 64 : 128;
  const int64_t blocks = ceil_div(call.seq_kv, keys);
  const int64_t splits = small ? 1 : cudnn_splits(units, blocks, chip);
  const double halves = call.head_dim > 128 ? 2 : 1;

  ProfilePhase block;
  block.name = "main loop";
  block.trips = static_cast<double>(ceil_div(blocks, splits));
  block.ring = 2;
  block.work.tensor = Flops(4 * product(small ? 64 : 16, keys, call.head_dim));
  block.work.tensor_type = call.dtype;
  block.work.tensor_share = table.decode_tensor_share;
  block.work.l2_read = Bytes(2 * kAttentionElement * product(keys, call.head_dim));
  block.chain.fixed =
      Cycles(table.decode_block * std::sqrt(static_cast<double>(call.head_dim) / 128) *
             static_cast<double>(keys) / 128);
  Profile profile;
  profile.kernel =
      small ? "cudnn_sdpa_sm80_flash_fprop_wmma_64x64" : "cudnn_sdpa_sm80_flash_fprop_wmma_16x128";
  profile.family = "attention";
  profile.behaviour.relative_error = table.error;
  profile.threads = 128;
  profile.ctas_per_sm = 2;
  set_units(profile, {{units * static_cast<double>(splits * group) * halves, {block}}});
  profile.traffic = attention_traffic(call);
  profile.fixed = table.decode_fixed;
  profile.behaviour.overlap = chip.overlap.streaming;
  profile.behaviour.dram_share = small                 ? table.decode_share_small
                                 : call.head_dim > 128 ? table.decode_share_256
                                                       : 1;
  std::vector<Profile> sequence{std::move(profile)};
  if (splits > 1) {
    sequence.push_back(cudnn_reduction(call, table, splits));
  }
  return sequence;
}

CudnnTable read_cudnn_table(NumberFile& file) {
  return {.tensor_share = file.number("attention.tensor_share", Unit::One),
          .issue_per_score = one(file, "attention.issue_per_score"),
          .pipe_overlap = file.number("attention.pipe_overlap", Unit::One),
          .turn = file.number("attention.turn", Unit::Cycles),
          .diagonal = one(file, "attention.diagonal"),
          .unit = cycles(file, "attention.unit"),
          .fixed = duration(file, "attention.fixed"),
          .decode_fixed = duration(file, "attention.decode_fixed"),
          .decode_tensor_share = file.number("attention.decode_tensor_share", Unit::One),
          .decode_block = cycles(file, "attention.decode_block"),
          .decode_share_256 = file.number("attention.decode_share_256", Unit::One),
          .decode_share_small = file.number("attention.decode_share_small", Unit::One),
          .reduction_fixed = duration(file, "attention.reduction_fixed"),
          .error = error_of(file, "attention")};
}

class CudnnAttention final : public Family {
 public:
  explicit CudnnAttention(CudnnTable table) : table_(table) {}

  bool serves(const Call& call) const override {
    const auto* attention = std::get_if<AttentionCall>(&call);
    return attention != nullptr && !attention->backward &&
           (attention->backend == "cudnn" || attention->backend.empty());
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& attention = std::get<AttentionCall>(call);
    ORR_TRY_VOID(check_attention(attention, chip));
    for (const int64_t dim : {attention.head_dim, value_dim(attention)}) {
      if (dim > 256 || dim % 8 != 0) {
        return make_error(ErrorCode::Unsupported,
                          "[library.attention] head_dim: got {}, need a multiple of 8, at most 256 "
                          "(cudnn; efficient takes more)",
                          dim);
      }
    }
    if (!attention.lengths.empty()) {
      return make_error(ErrorCode::Unsupported,
                        "[library.attention] lengths: got {} sequences, need backend flash",
                        attention.lengths.size());
    }
    return Candidates{attention.seq_q == 1 ? cudnn_decode(attention, table_, chip)
                                           : cudnn_prefill(attention, table_, chip)};
  }

 private:
  CudnnTable table_;
};

}  // namespace

std::unique_ptr<Family> read_cudnn_attention(NumberFile& file) {
  return std::make_unique<CudnnAttention>(read_cudnn_table(file));
}

}  // namespace orrery::library
