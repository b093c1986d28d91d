// Attention: FlashAttention 2 with its split heuristic, cuDNN's prefill and decode kernels.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/attention.h"
#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;
using kernel::UnitKind;
using machine::NumberFile;
using machine::Unit;

struct FlashTable {
  double tensor_share = 1;
  double issue_per_score = 0;
  double alone = 1;
  double uneven = 1;
  double diagonal = 0;
  double unit = 0;
  Duration combine_fixed;
  double error = 0;
};

struct CudnnTable {
  double tensor_share = 1;
  double issue_per_score = 0;
  double pipe_overlap = 0;
  double diagonal = 0;
  double unit = 0;
  Duration fixed;
  Duration decode_fixed;
  double decode_block = 0;
  double decode_share_256 = 1;
  double decode_share_small = 1;
  Duration reduction_fixed;
  double error = 0;
};

constexpr double kElement = 2;  // bytes: bf16 and f16 alone are served

double query_bytes(const AttentionCall& call) {
  return product(call.batch, call.heads, call.seq_q, call.head_dim, kElement);
}

double cache_bytes(const AttentionCall& call) {
  return 2 * product(call.batch, call.kv_heads, call.seq_kv, call.head_dim, kElement);
}

// Q, K, V once, O once. Of the keys, those of the new queries were just computed; the rest is a
// cache.
kernel::Traffic traffic_of(const AttentionCall& call) {
  const double fresh =
      std::min(1.0, static_cast<double>(call.seq_q) / static_cast<double>(call.seq_kv));
  const double read = query_bytes(call) + cache_bytes(call);
  kernel::Traffic traffic;
  traffic.unique_read = Bytes(read);
  traffic.recent_read = Bytes(query_bytes(call) + fresh * cache_bytes(call));
  traffic.unique_write = Bytes(query_bytes(call));
  traffic.dram_read = Bytes(read);
  traffic.dram_write = Bytes(query_bytes(call));
  traffic.l2_read = Bytes(read);
  traffic.l2_write = Bytes(query_bytes(call));
  return traffic;
}

// What a kernel does with one block of keys, and how its query tiles lie.
struct Tiling {
  int64_t rows = 0;     // queries of a tile
  int64_t keys = 0;     // of a block
  int64_t queries = 0;  // rows to cover
  double copies = 0;    // tiles at each position: batch x heads x splits
  double diagonal = 0;  // extra blocks of a tile that meets the causal diagonal
  int64_t blocks = 0;   // of a tile that sees all its keys
};

// Kinds of tiles, in issue order: with a causal mask tile i sees the keys up to its last row (the
// mask starts at the first key), and neighbouring tiles are merged so that there are at most 64
// kinds.
std::vector<UnitKind> kinds_of(const Tiling& tiling,
                               bool causal,
                               const ProfilePhase& block,
                               const ProfilePhase& rest) {
  const int64_t tiles = ceil_div(tiling.queries, tiling.rows);
  std::vector<UnitKind> kinds;
  const int64_t most = 8;
  const int64_t groups = causal ? std::min(tiles, most) : 1;
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t first = static_cast<int64_t>(product(tiles, group) / static_cast<double>(groups));
    const int64_t last =
        static_cast<int64_t>(product(tiles, group + 1) / static_cast<double>(groups));
    double blocks = static_cast<double>(tiling.blocks);
    if (causal) {
      const double middle = 0.5 * static_cast<double>(first + last + 1);  // mean of i + 1
      const double seen =
          std::ceil(middle * static_cast<double>(tiling.rows) / static_cast<double>(tiling.keys));
      blocks = std::min(blocks, seen) + tiling.diagonal;
    }
    UnitKind kind{static_cast<double>(last - first) * tiling.copies, {block, rest}};
    kind.phases[0].trips = blocks;
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

// FlashAttention 2's num_splits_heuristic (flash_api.cpp, v2.7): the fewest splits whose waves are
// at least 85 % as full as the best count's; 264 slots = 2 CTAs on each SM.
int64_t flash_splits(double tiles, int64_t blocks, const machine::Chip& chip) {
  const auto slots = static_cast<double>(2 * chip.core.count);
  if (tiles >= 0.8 * slots) {
    return 1;
  }
  const int64_t most = std::min({int64_t{128}, 2 * chip.core.count, blocks});
  const auto eligible = [&](int64_t s) {
    return s == 1 || ceil_div(blocks, s) != ceil_div(blocks, s - 1);
  };
  const auto efficiency = [&](int64_t s) {
    const double waves = tiles * static_cast<double>(s) / slots;
    return waves / std::ceil(waves);
  };
  double best = 0;
  for (int64_t s = 1; s <= most; ++s) {
    best = eligible(s) ? std::max(best, efficiency(s)) : best;
  }
  for (int64_t s = 1; s <= most; ++s) {
    if (eligible(s) && efficiency(s) >= 0.85 * best) {
      return s;
    }
  }
  return 1;
}

// One block of keys of FlashAttention 2: Q K^T, softmax, P V, hardly overlapped within a CTA.
ProfilePhase flash_block(const AttentionCall& call,
                         const Tiling& tiling,
                         const FlashTable& table,
                         const machine::Chip& chip,
                         bool uneven) {
  const double scores = product(tiling.rows, tiling.keys);
  const double stretch = uneven ? table.uneven : 1.0;
  ProfilePhase phase;
  phase.name = "main loop";
  phase.ring = 2;
  phase.work.tensor = Flops(4 * scores * static_cast<double>(call.head_dim));
  phase.work.tensor_type = call.dtype;
  phase.work.tensor_share = table.tensor_share / stretch;
  phase.work.issue = Instructions(scores * table.issue_per_score * stretch);
  phase.work.l2_read = Bytes(2 * product(tiling.keys, call.head_dim, kElement));
  // Alone on its SM a CTA waits for each of its own steps; two hide each other's.
  const double tensor_rate = chip.core.tensor.at(call.dtype).value() * phase.work.tensor_share;
  phase.chain.fixed =
      Cycles(table.alone * (phase.work.tensor.value() / tensor_rate +
                            phase.work.issue.value() / static_cast<double>(chip.core.schedulers)));
  return phase;
}

// The kernel that combines splits.
Profile combine(const AttentionCall& call, const FlashTable& table, int64_t splits) {
  const double rows = product(call.batch, call.heads, call.seq_q);
  const double partials = rows * product(splits, call.head_dim, 4);
  Profile profile;
  profile.kernel = "flash_fwd_splitkv_combine_kernel";
  profile.family = "attention";
  profile.behaviour.relative_error = table.error;
  profile.threads = 128;
  profile.units = whole(std::ceil(rows / (call.head_dim > 128 ? 4 : call.head_dim > 64 ? 4 : 8)));
  profile.ctas = profile.units;
  profile.ctas_per_sm = 8;
  ProfilePhase phase;
  phase.name = "combine";
  phase.trips = static_cast<double>(splits);
  phase.chain.memory = 1;
  phase.work.l2_read =
      Bytes(partials / static_cast<double>(splits) / static_cast<double>(profile.units));
  profile.kinds.push_back({static_cast<double>(profile.units), {phase}});
  profile.traffic = {.unique_read = Bytes(partials),
                     .recent_read = Bytes(partials),
                     .unique_write = Bytes(query_bytes(call)),
                     .dram_read = Bytes(partials),
                     .dram_write = Bytes(query_bytes(call)),
                     .l2_read = Bytes(partials),
                     .l2_write = Bytes(query_bytes(call))};
  profile.fixed = table.combine_fixed;
  return profile;
}

std::vector<Profile> flash(const AttentionCall& call,
                           const FlashTable& table,
                           const machine::Chip& chip) {
  // One query row and several query heads to a key head: the heads become rows (flash_api.cpp,
  // "seqlenq_ngroups_swapped"), so that the keys are read once.
  const bool swapped = call.seq_q == 1 && call.heads > call.kv_heads;
  const double heads = product(call.batch, swapped ? call.kv_heads : call.heads);
  Tiling tiling;
  tiling.queries = swapped ? ceil_div(call.heads, call.kv_heads) : call.seq_q;
  const int64_t split_keys = call.head_dim <= 64 ? 256 : call.head_dim <= 128 ? 128 : 64;
  const int64_t split_blocks = ceil_div(call.seq_kv, split_keys);
  const int64_t splits =
      flash_splits(heads * static_cast<double>(ceil_div(tiling.queries, 64)), split_blocks, chip);
  tiling.rows = splits > 1 || call.head_dim > 128 ? 64 : 128;
  tiling.keys = splits > 1 ? split_keys : call.head_dim <= 64 ? 128 : 64;
  tiling.copies = heads * static_cast<double>(splits);
  tiling.diagonal = table.diagonal;
  const int64_t blocks = ceil_div(call.seq_kv, tiling.keys);
  tiling.blocks = ceil_div(blocks, splits);
  const bool uneven =
      call.seq_kv % tiling.keys != 0 || (call.seq_q > 1 && call.seq_q % tiling.rows != 0);

  Profile profile;
  profile.kernel = splits > 1 ? "flash_fwd_splitkv_kernel" : "flash_fwd_kernel";
  profile.family = "attention";
  profile.behaviour.relative_error = table.error;
  profile.threads = 128;
  profile.ctas_per_sm = 2;
  const ProfilePhase block = flash_block(call, tiling, table, chip, uneven);
  ProfilePhase rest;
  rest.name = "prologue and epilogue";
  rest.chain.fixed = Cycles(table.unit);
  set_units(profile, kinds_of(tiling, call.causal && splits == 1, block, rest));
  profile.traffic = traffic_of(call);
  if (splits > 1) {
    profile.traffic.unique_write = Bytes(2 * query_bytes(call) * static_cast<double>(splits));
    profile.traffic.dram_write = profile.traffic.unique_write;
  }
  profile.behaviour.pipe_overlap = 1;
  std::vector<Profile> sequence{std::move(profile)};
  if (splits > 1) {
    sequence.push_back(combine(call, table, splits));
  }
  return sequence;
}

std::vector<Profile> cudnn_prefill(const AttentionCall& call,
                                   const CudnnTable& table,
                                   const machine::Chip& chip) {
  Tiling tiling;
  tiling.rows = 128;
  tiling.keys = 128;
  tiling.queries = call.seq_q;
  tiling.copies = product(call.batch, call.heads);
  tiling.diagonal = table.diagonal;
  tiling.blocks = ceil_div(call.seq_kv, tiling.keys);
  const double scores = product(tiling.rows, tiling.keys);
  ProfilePhase block;
  block.name = "main loop";
  block.ring = 2;
  block.work.tensor = Flops(4 * scores * static_cast<double>(call.head_dim));
  block.work.tensor_type = call.dtype;
  block.work.tensor_share = table.tensor_share;
  block.work.special = scores;
  block.work.issue = Instructions(scores * table.issue_per_score);
  block.work.l2_read = Bytes(2 * product(tiling.keys, call.head_dim, kElement));
  ProfilePhase rest;
  rest.name = "prologue and epilogue";
  rest.chain.fixed = Cycles(table.unit);
  Profile profile;
  profile.kernel = "cudnn_sdpa_sm90_flash_fprop_wgmma";
  profile.family = "attention";
  profile.behaviour.relative_error = table.error;
  profile.threads = 384;
  set_units(profile, kinds_of(tiling, call.causal, block, rest));
  profile.ctas = std::min(profile.units, chip.core.count);
  profile.traffic = traffic_of(call);
  profile.extra_nodes = 1;  // a memset of its work counter
  profile.fixed = table.fixed;
  profile.behaviour.pipe_overlap = table.pipe_overlap;
  return {std::move(profile)};
}

// The largest power of two that gives each slot a split: at most 64, at most the blocks of keys,
// only where fewer than 128 units leave SMs idle and there are at least 1024 keys (66 of 66
// launches).
int64_t cudnn_splits(double units, int64_t blocks, int64_t keys, const machine::Chip& chip) {
  if (units >= 128 || keys < 1024) {
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
  const int64_t splits = small ? 1 : cudnn_splits(units, blocks, call.seq_kv, chip);
  const double halves = call.head_dim > 128 ? 2 : 1;

  ProfilePhase block;
  block.name = "main loop";
  block.trips = static_cast<double>(ceil_div(blocks, splits));
  block.ring = 2;
  block.work.tensor = Flops(4 * product(small ? 64 : 16, keys, call.head_dim));
  block.work.tensor_type = call.dtype;
  block.work.tensor_share = 0.5;
  block.work.l2_read = Bytes(2 * product(keys, call.head_dim, kElement));
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
  profile.traffic = traffic_of(call);
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

FlashTable read_flash_table(NumberFile& file) {
  return {.tensor_share = file.number("flash.tensor_share", Unit::One),
          .issue_per_score = one(file, "flash.issue_per_score"),
          .alone = one(file, "flash.alone"),
          .uneven = file.number("flash.uneven", Unit::One),
          .diagonal = one(file, "flash.diagonal"),
          .unit = cycles(file, "flash.unit"),
          .combine_fixed = duration(file, "flash.combine_fixed"),
          .error = error_of(file, "flash")};
}

CudnnTable read_cudnn_table(NumberFile& file) {
  return {.tensor_share = file.number("attention.tensor_share", Unit::One),
          .issue_per_score = one(file, "attention.issue_per_score"),
          .pipe_overlap = file.number("attention.pipe_overlap", Unit::One),
          .diagonal = one(file, "attention.diagonal"),
          .unit = cycles(file, "attention.unit"),
          .fixed = duration(file, "attention.fixed"),
          .decode_fixed = duration(file, "attention.decode_fixed"),
          .decode_block = cycles(file, "attention.decode_block"),
          .decode_share_256 = file.number("attention.decode_share_256", Unit::One),
          .decode_share_small = file.number("attention.decode_share_small", Unit::One),
          .reduction_fixed = duration(file, "attention.reduction_fixed"),
          .error = error_of(file, "attention")};
}

Result<void> check(const AttentionCall& call, const machine::Chip& chip) {
  if (call.dtype != DType::BF16 && call.dtype != DType::F16) {
    return make_error(ErrorCode::Unsupported,
                      "[library.attention] element type: got {}, need bf16 or f16",
                      name(call.dtype));
  }
  if (chip.core.tensor.find(call.dtype) == chip.core.tensor.end()) {
    return make_error(ErrorCode::Unsupported,
                      "[library.attention] {} has no matrix rate for {}",
                      chip.id,
                      name(call.dtype));
  }
  if (call.heads % call.kv_heads != 0) {
    return make_error(ErrorCode::InvalidInput,
                      "[library.attention] heads: got {} for {} kv_heads, need a multiple",
                      call.heads,
                      call.kv_heads);
  }
  if (call.head_dim > 256) {
    return make_error(ErrorCode::Unsupported,
                      "[library.attention] head_dim: got {}, need at most 256",
                      call.head_dim);
  }
  return {};
}

class Flash final : public Family {
 public:
  explicit Flash(FlashTable table) : table_(table) {}

  bool serves(const Call& call) const override {
    const auto* attention = std::get_if<AttentionCall>(&call);
    return attention != nullptr && attention->backend == "flash";
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& attention = std::get<AttentionCall>(call);
    ORR_TRY_VOID(check(attention, chip));
    return Candidates{flash(attention, table_, chip)};
  }

 private:
  FlashTable table_;
};

class CudnnAttention final : public Family {
 public:
  explicit CudnnAttention(CudnnTable table) : table_(table) {}

  bool serves(const Call& call) const override {
    const auto* attention = std::get_if<AttentionCall>(&call);
    return attention != nullptr && (attention->backend == "cudnn" || attention->backend.empty());
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& attention = std::get<AttentionCall>(call);
    ORR_TRY_VOID(check(attention, chip));
    return Candidates{attention.seq_q == 1 ? cudnn_decode(attention, table_, chip)
                                           : cudnn_prefill(attention, table_, chip)};
  }

 private:
  CudnnTable table_;
};

}  // namespace

std::unique_ptr<Family> read_flash(NumberFile& file) {
  return std::make_unique<Flash>(read_flash_table(file));
}

std::unique_ptr<Family> read_cudnn_attention(NumberFile& file) {
  return std::make_unique<CudnnAttention>(read_cudnn_table(file));
}

}  // namespace orrery::library
