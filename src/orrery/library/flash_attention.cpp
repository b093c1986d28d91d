// FlashAttention 2, forward: tiles by head size, the split heuristic, masks and windows.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/flash_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/attention_counts.h"
#include "orrery/library/counts.h"
#include "orrery/library/flash_block.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;
using machine::NumberFile;
using machine::Unit;

struct FlashTable {
  FlashBlock block;
  double wait = 0;         // clocks until a CTA's first operands have come
  double unit = 0;         // clocks of the SM for prologue and epilogue
  double mask = 0;         // instructions per score of a masked block
  double step = 0;         // clocks per further masked block
  double step_uneven = 0;  // the same where lengths are not multiples of the tile
  double overlap = 0;
  double combine_unit = 0;
  double combine_split = 0;
  Duration fixed;
  double error = 0;
};

// One launch: tile, threads and how the heads lie.
struct Launch {
  int64_t head_dim = 0;  // of the kernel: the next of its sizes
  int64_t rows = 0;
  int64_t keys = 0;
  int64_t warps = 4;
  int64_t queries = 0;
  double heads = 0;  // batch x (query or key) heads
  int64_t splits = 1;
  bool even = true;
};

// flash_fwd_launch_template.h: run_mha_fwd_hdim32 .. 256 and run_mha_fwd_splitkv_dispatch.
void set_tile(Launch& launch) {
  const int64_t d = launch.head_dim;
  if (launch.splits > 1) {
    launch.rows = 64;
    launch.keys = d <= 64 ? 256 : d <= 128 ? 128 : 64;
    return;
  }
  launch.rows = d > 192 ? 64 : 128;
  launch.keys = d <= 64 ? 128 : 64;
  launch.warps = d > 128 && d <= 192 ? 8 : 4;
}

// static_switch.h, HEADDIM_SWITCH.
int64_t kernel_head_dim(int64_t head_dim) {
  for (const int64_t size : {32, 64, 96, 128, 192}) {
    if (head_dim <= size) {
      return size;
    }
  }
  return 256;
}

// num_splits_heuristic (flash_api.cpp, v2.7): the fewest splits whose waves are at least 85 % as
// full as the best count's; 264 slots = 2 CTAs on each SM.
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

Launch launch_of(const AttentionCall& call, const machine::Chip& chip) {
  // One query row and several query heads to a key head: the heads become rows (flash_api.cpp,
  // "seqlenq_ngroups_swapped"), so that the keys are read once.
  const bool swapped = call.seq_q == 1 && call.heads > call.kv_heads && call.window == 0;
  Launch launch;
  launch.head_dim = kernel_head_dim(call.head_dim);
  launch.heads = product(call.batch, swapped ? call.kv_heads : call.heads);
  launch.queries = swapped ? call.heads / call.kv_heads : call.seq_q;
  const int64_t split_keys = launch.head_dim <= 64 ? 256 : launch.head_dim <= 128 ? 128 : 64;
  // The variable-length entry splits only where one query a sequence has swapped its heads.
  if (call.lengths.empty() || (swapped && !call.key_lengths.empty())) {
    launch.splits = flash_splits(launch.heads * static_cast<double>(ceil_div(launch.queries, 64)),
                                 ceil_div(call.seq_kv, split_keys),
                                 chip);
  }
  set_tile(launch);
  // run_flash_fwd: the even kernel exists for head sizes up to 128 that need no padding, without a
  // window.
  launch.even = launch.head_dim <= 128 && launch.head_dim == call.head_dim && call.window == 0 &&
                call.lengths.empty() && launch.queries % launch.rows == 0 &&
                call.seq_kv % launch.keys == 0;
  return launch;
}

ProfilePhase main_loop(const AttentionCall& call,
                       const Launch& launch,
                       const FlashTable& table,
                       const machine::Core& core) {
  const double scores = product(launch.rows, launch.keys);
  const auto d = static_cast<double>(launch.head_dim);
  ProfilePhase phase;
  phase.name = "main loop";
  phase.ring = 2;
  const double loaded = 2 * kAttentionElement * product(launch.keys, launch.head_dim);
  // Each warp reads all keys and values, and its own rows of Q.
  phase.work =
      block_work({.rows = static_cast<double>(launch.rows),
                  .keys = static_cast<double>(launch.keys),
                  .tensor = Flops(4 * scores * d),
                  .operands = Bytes(kAttentionElement * d * static_cast<double>(launch.rows) +
                                    static_cast<double>(launch.warps) * loaded),
                  .loaded = Bytes(loaded),
                  .rescaled = product(launch.rows, launch.head_dim)},
                 table.block,
                 call.dtype,
                 core);
  phase.work.l2_read = Bytes(loaded);
  const double alone = launch.warps > 4 ? 1 : table.block.alone;
  phase.chain.fixed = Cycles(alone * shared_cycles(phase.work, table.block.pipe_overlap, core));
  return phase;
}

// n_masking_steps of compute_attn_1rowblock (flash_fwd_kernel.h). The masked iterations are
// unrolled: each further one is other code, and slower where lengths are uneven.
int64_t masked_steps(const AttentionCall& call, const Launch& launch) {
  if (!call.causal && call.window == 0) {
    return launch.even ? 0 : 1;
  }
  return ceil_div(launch.rows, launch.keys) + (launch.even ? 0 : 1);
}

// Everything of a tile but its main loop: prologue, masks, epilogue.
ProfilePhase rest_of_tile(const TileBlocks& tile,
                          const Launch& launch,
                          const FlashTable& table,
                          double steps,
                          const machine::Core& core) {
  const double further = std::max(0.0, std::min(tile.masked, steps) - 1);
  const auto schedulers = static_cast<double>(core.schedulers);
  const double busy = table.unit +
                      tile.masked * table.mask * product(launch.rows, launch.keys) / schedulers +
                      further * (launch.even ? table.step : table.step_uneven);
  ProfilePhase phase;
  phase.name = "prologue, masks, epilogue";
  phase.work.issue = Instructions(busy * schedulers);
  phase.chain.fixed = Cycles((launch.warps > 4 ? 1 : table.block.alone) * busy);
  return phase;
}

// The tiles of a split: each takes its share of the blocks that the mask leaves (n_block_min and
// n_block_max of compute_attn_1rowblock_splitkv).
std::vector<TileGroup> split_groups(const Tiling& tiling, int64_t splits) {
  const int64_t all = ceil_div(tiling.key_count, tiling.keys);
  const auto share = static_cast<double>(ceil_div(all, splits));
  if (!tiling.causal && tiling.window == 0) {
    const auto tiles = static_cast<double>(ceil_div(tiling.queries, tiling.rows));
    return {
        {tiles * static_cast<double>(splits), {share, static_cast<double>(tiling.masked_steps)}}};
  }
  std::vector<TileGroup> groups = tile_groups(tiling, 4);
  std::vector<TileGroup> result;
  const int64_t parts = std::min<int64_t>(splits, 4);
  for (int64_t part = 0; part < parts; ++part) {
    const double before = share * std::floor(product(part, splits) / static_cast<double>(parts));
    for (const auto& group : groups) {
      const double blocks = std::clamp(group.mean.blocks - before, 0.0, share);
      const double count = group.tiles * static_cast<double>(splits) / static_cast<double>(parts);
      result.push_back({count, {blocks, std::min(blocks, group.mean.masked)}});
    }
  }
  return result;
}

// Whether a tile is about as long as those of a group.
bool alike(const TileBlocks& tile, const TileBlocks& mean) {
  constexpr double kApart = 0.25;
  return std::abs(tile.blocks - mean.blocks) <= kApart * std::max(tile.blocks, mean.blocks);
}

// Tiles of packed sequences with keys of their own, in issue order; runs of sequences that have one
// tile each (decoding ones) and are about as long are merged. Blocks beyond a sequence's queries
// end at once (the grid is as for the longest): the last group.
std::vector<TileGroup> packed_tiles(const AttentionCall& call,
                                    const Launch& launch,
                                    Tiling tiling) {
  constexpr size_t kMost = 8;  // groups of a long sequence, and of all short ones
  constexpr size_t kMostGroups = 64;
  std::vector<TileGroup> tiles;
  const size_t run = std::max<size_t>(1, (call.lengths.size() + kMost - 1) / kMost);
  size_t merged = run;  // sequences in the last group; at `run` a new one begins
  double empty = 0;
  const int64_t rows = ceil_div(call.seq_q, launch.rows);
  for (size_t i = 0; i < call.lengths.size(); ++i) {
    const int64_t queries = call.seq_q == 1 ? launch.queries : call.lengths[i];
    tiling.queries = queries;
    tiling.key_count = call.key_lengths[i];
    tiling.causal = call.causal && call.seq_q > 1;
    const int64_t count = ceil_div(queries, launch.rows);
    empty += static_cast<double>(std::max<int64_t>(0, rows - count));
    if (launch.splits > 1) {
      const auto groups = split_groups(tiling, launch.splits);
      tiles.insert(tiles.end(), groups.begin(), groups.end());
    } else if (count > 1) {
      const auto groups = tile_groups(tiling, kMost);
      tiles.insert(tiles.end(), groups.begin(), groups.end());
      merged = run;
    } else if (const TileBlocks own = blocks_of(tiling, 0);
               merged < run && (alike(own, tiles.back().mean) || tiles.size() > kMostGroups)) {
      TileGroup& last = tiles.back();
      last.mean.blocks = (last.mean.blocks * last.tiles + own.blocks) / (last.tiles + 1);
      last.mean.masked = (last.mean.masked * last.tiles + own.masked) / (last.tiles + 1);
      ++last.tiles;
      ++merged;
    } else {
      tiles.push_back({1, own});
      merged = 1;
    }
  }
  if (empty > 0) {
    tiles.push_back({empty, {}});
  }
  return tiles;
}

// Tiles of one head (or of one head of all packed sequences), in issue order; then the next head's.
std::vector<TileGroup> tiles_of(const AttentionCall& call, const Launch& launch) {
  Tiling tiling{.rows = launch.rows,
                .keys = launch.keys,
                .queries = launch.queries,
                .key_count = call.seq_kv,
                .causal = call.causal && call.seq_q > 1,
                .window = call.window,
                .masked_steps = masked_steps(call, launch)};
  if (call.lengths.empty()) {
    return launch.splits > 1 ? split_groups(tiling, launch.splits) : tile_groups(tiling, 8);
  }
  if (!call.key_lengths.empty()) {
    return packed_tiles(call, launch, tiling);
  }
  // Packed sequences: the grid is as for the longest, and heads go slowest.
  std::vector<TileGroup> tiles;
  const int64_t most = std::max<int64_t>(1, 16 / static_cast<int64_t>(call.lengths.size()));
  for (const int64_t length : call.lengths) {
    tiling.queries = length;
    tiling.key_count = length;
    const auto groups = tile_groups(tiling, most);
    tiles.insert(tiles.end(), groups.begin(), groups.end());
  }
  return tiles;
}

// A block that finds no queries: it reads the two ends of its sequence.
ProfilePhase ends_at_once() {
  ProfilePhase phase;
  phase.name = "no queries";
  phase.work.issue = Instructions(4 * 40);
  phase.chain.l2 = 1;
  return phase;
}

// Chance that two of the few long CTAs of a launch meet on one SM, which then decides the time. The
// hardware places CTAs without regard to their length: n of them on SMs with room for two each miss
// one another like birthdays, with exp(-n (n - 1) / (2 SMs)), as far as SMs are shared at all. (64
// CTAs of 193 blocks beside 32 to 768 of 8: the same launch takes 421 us or 670 us.)
double chance_to_meet(double few, double all, const machine::Core& core) {
  const auto sms = static_cast<double>(core.count);
  if (all <= sms || few > sms) {
    return 0;
  }
  const double shared = std::min(1.0, 2 * (all - sms) / all);
  return 1 - std::exp(-few * (few - 1) / (2 * sms) * shared);
}

// CTAs with blocks, and those that have at least half of the most.
struct Lengths {
  double all = 0;
  double few = 0;
  double most = 0;
};

Lengths lengths_of(const std::vector<TileGroup>& tiles, double copies) {
  Lengths lengths;
  for (const auto& group : tiles) {
    lengths.most = std::max(lengths.most, group.mean.blocks);
  }
  for (const auto& group : tiles) {
    lengths.all += group.mean.blocks > 0 ? group.tiles * copies : 0;
    lengths.few += group.mean.blocks >= lengths.most / 2 ? group.tiles * copies : 0;
  }
  return lengths;
}

// A block of such a CTA: alone on its SM, or with another that takes as much of the pipes.
ProfilePhase lone_block(ProfilePhase block, double chance, const FlashTable& table) {
  const double share = block.chain.fixed.value() / table.block.alone;
  block.chain.fixed += Cycles(chance * (2 - table.block.alone) * share);
  return block;
}

void set_tiles(Profile& profile,
               const AttentionCall& call,
               const Launch& launch,
               const FlashTable& table,
               const machine::Core& core) {
  const std::vector<TileGroup> tiles = tiles_of(call, launch);
  // Of the groups: heads whose query heads are rows count once.
  const double copies = call.lengths.empty() ? launch.heads
                        : launch.queries == call.heads / call.kv_heads && call.seq_q == 1
                            ? static_cast<double>(call.kv_heads)
                            : static_cast<double>(call.heads);
  ProfilePhase wait;
  wait.name = "first operands";
  wait.chain.fixed = Cycles(table.wait);
  const ProfilePhase block = main_loop(call, launch, table, core);
  const Lengths lengths = lengths_of(tiles, copies);
  const bool packed = !call.key_lengths.empty();
  const double chance = packed ? chance_to_meet(lengths.few, lengths.all, core) : 0;
  const ProfilePhase lone = lone_block(block, chance, table);
  const auto steps = static_cast<double>(masked_steps(call, launch));
  double read = 0;
  std::vector<kernel::UnitKind> kinds;
  kinds.reserve(tiles.size());
  for (const auto& group : tiles) {
    const double count = group.tiles * copies;
    if (!(group.mean.blocks > 0) && packed) {
      kinds.push_back({count, {ends_at_once()}});
      continue;
    }
    kinds.push_back(unit_of(count,
                            group.mean.blocks,
                            wait,
                            group.mean.blocks >= lengths.most / 2 ? lone : block,
                            rest_of_tile(group.mean, launch, table, steps, core)));
    read += count * group.mean.blocks * block.work.l2_read.value();
  }
  set_units(profile, std::move(kinds));
  profile.rounds = copies;
  const double query =
      call.key_lengths.empty() ? query_bytes(call) : profile.traffic.recent_read.value();
  profile.traffic.l2_read = Bytes(query + read);
}

// Four rows of 128 (eight of 64) a CTA: the splits are read one after the other.
Profile combine(const AttentionCall& call, const Launch& launch, const FlashTable& table) {
  const double rows = product(call.batch, call.heads, call.seq_q);
  const double partials = rows * product(launch.splits, launch.head_dim, 4);
  Profile profile;
  profile.kernel = "flash_fwd_splitkv_combine_kernel";
  profile.family = "attention";
  profile.behaviour.relative_error = table.error;
  profile.threads = 128;
  profile.ctas_per_sm = 9;  // 54 registers
  ProfilePhase reduce;
  reduce.name = "splits";
  reduce.trips = static_cast<double>(launch.splits);
  reduce.chain.fixed = Cycles(table.combine_split);
  ProfilePhase rest;
  rest.name = "log-sum-exp";
  rest.chain.fixed = Cycles(table.combine_unit);
  rest.work.issue = Instructions(700);  // counters: 3741 a CTA with 29 splits, 105 of them a split
  reduce.work.issue = Instructions(105);
  const int64_t d = launch.head_dim;
  const double a_cta = d % 128 == 0 ? 4 : d % 64 == 0 ? 8 : 16;  // kBlockM of run_flash_splitkv_fwd
  set_units(profile, {{std::ceil(rows / a_cta), {reduce, rest}}});
  profile.traffic = streamed(partials, output_bytes(call));
  profile.reasons.push_back(fmt::format("adds {} splits", launch.splits));
  return profile;
}

std::vector<Profile> flash(const AttentionCall& call,
                           const FlashTable& table,
                           const machine::Chip& chip) {
  const Launch launch = launch_of(call, chip);
  Profile profile;
  profile.kernel = launch.splits > 1 ? "flash_fwd_splitkv_kernel" : "flash_fwd_kernel";
  profile.family = "attention";
  profile.threads = 32 * launch.warps;
  profile.ctas_per_sm = launch.warps > 4 ? 1 : 2;  // 255 registers a thread
  profile.fixed = table.fixed;
  profile.behaviour.overlap = table.overlap;
  profile.behaviour.pipe_overlap = table.block.pipe_overlap;
  profile.behaviour.relative_error = table.error;
  profile.traffic = call.key_lengths.empty() ? attention_traffic(call) : packed_traffic(call, chip);
  set_tiles(profile, call, launch, table, chip.core);
  if (launch.splits > 1) {
    const double partials =
        product(call.batch, call.heads, call.seq_q, launch.splits, launch.head_dim, 4);
    profile.traffic.unique_write = Bytes(partials);
    profile.traffic.dram_write = Bytes(partials);
    profile.traffic.l2_write = Bytes(partials);
  }
  profile.reasons.push_back(
      fmt::format("tile {}x{} for head size {} (flash_fwd_launch_template.h), {} split{} "
                  "(num_splits_heuristic)",
                  launch.rows,
                  launch.keys,
                  call.head_dim,
                  launch.splits,
                  launch.splits > 1 ? "s" : ""));
  if (!launch.even) {
    profile.reasons.push_back("lengths, head size or window need the kernel with bounds checks");
  }
  std::vector<Profile> sequence{std::move(profile)};
  if (launch.splits > 1) {
    sequence.push_back(combine(call, launch, table));
  }
  return sequence;
}

FlashTable read_table(NumberFile& file) {
  return {.block = read_flash_block(file, "flash"),
          .wait = cycles(file, "flash.wait"),
          .unit = cycles(file, "flash.unit"),
          .mask = one(file, "flash.mask"),
          .step = cycles(file, "flash.step"),
          .step_uneven = cycles(file, "flash.step_uneven"),
          .overlap = file.number("flash.overlap", Unit::One),
          .combine_unit = cycles(file, "flash.combine_unit"),
          .combine_split = cycles(file, "flash.combine_split"),
          .fixed = duration(file, "flash.fixed"),
          .error = error_of(file, "flash")};
}

class Flash final : public Family {
 public:
  explicit Flash(FlashTable table) : table_(table) {}

  bool serves(const Call& call) const override {
    const auto* attention = std::get_if<AttentionCall>(&call);
    return attention != nullptr && attention->backend == "flash" && !attention->backward;
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& attention = std::get<AttentionCall>(call);
    ORR_TRY_VOID(check_attention(attention, chip));
    if (attention.head_dim > 256) {
      return make_error(ErrorCode::Unsupported,
                        "[library.attention] head_dim: got {}, need at most 256 (flash)",
                        attention.head_dim);
    }
    if (value_dim(attention) > attention.head_dim) {
      return make_error(ErrorCode::Unsupported,
                        "[library.attention] head_dim_v: got {}, need at most head_dim {} (flash "
                        "pads values)",
                        value_dim(attention),
                        attention.head_dim);
    }
    return Candidates{flash(attention, table_, chip)};
  }

 private:
  FlashTable table_;
};

}  // namespace

std::unique_ptr<Family> read_flash(NumberFile& file) {
  return std::make_unique<Flash>(read_table(file));
}

}  // namespace orrery::library
