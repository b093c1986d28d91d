// Memory-efficient attention: three kernels by head size, counted from their source.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/efficient_attention.h"

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

struct EfficientTable {
  FlashBlock block;
  double wait = 0;
  double unit = 0;
  double step = 0;  // clocks of the SM for 32 of depth of a product: barriers, predicated loads
  Duration fixed;
  double error = 0;
};

// cutlassF.h: queries x keys of a block; the output stays in registers up to head size 128, else it
// is added up in fp32 in global memory, one slice of values after the other.
struct Tile {
  int64_t queries = 0;
  int64_t keys = 0;
  bool in_registers = true;
};

Tile tile_of(int64_t head_dim) {
  return head_dim <= 64    ? Tile{64, 64, true}
         : head_dim <= 128 ? Tile{64, 128, true}
                           : Tile{32, 128, false};
}

// Both products are loops of 32 of depth: the first over the head size, the second over the keys
// for each slice of values as wide as the block of keys.
double iterations(const AttentionCall& call, const Tile& tile) {
  const int64_t slices = ceil_div(value_dim(call), tile.keys);
  return static_cast<double>(ceil_div(call.head_dim, 32) + slices * ceil_div(tile.keys, 32));
}

// Warps of 32 x 32: each reads its rows of both operands from shared memory, and everything comes
// there by cp.async (kernel_forward.h, MM0 and MM1).
ProfilePhase main_loop(const AttentionCall& call,
                       const Tile& tile,
                       const EfficientTable& table,
                       const machine::Core& core) {
  const double scores = product(tile.queries, tile.keys);
  const auto dim = static_cast<double>(call.head_dim);
  const auto values = static_cast<double>(value_dim(call));
  const double warps = scores / (32 * 32);
  const double read = static_cast<double>(tile.keys) * (dim + values) * kAttentionElement +
                      static_cast<double>(tile.queries) * dim * kAttentionElement;
  ProfilePhase phase;
  phase.name = "main loop";
  phase.ring = 2;
  const double first = warps * 64 * dim;
  const double second =
      std::floor(product(tile.queries) / 32) * (values / 32) * 64 * static_cast<double>(tile.keys);
  phase.work = block_work({.rows = static_cast<double>(tile.queries),
                           .keys = static_cast<double>(tile.keys),
                           .tensor = Flops(2 * scores * (dim + values)),
                           .operands = Bytes((first + second) * kAttentionElement),
                           .loaded = Bytes(read + scores * kAttentionElement),
                           .rescaled = static_cast<double>(tile.queries) * values},
                          table.block,
                          call.dtype,
                          core);
  phase.work.issue +=
      Instructions(static_cast<double>(core.schedulers) * table.step * iterations(call, tile));
  phase.work.l2_read = Bytes(read);
  if (!tile.in_registers) {
    const double sums = product(tile.queries, values, 4);
    phase.work.l2_read = Bytes(read + sums);
    phase.work.l2_write = Bytes(sums);
  }
  phase.chain.fixed =
      Cycles(table.block.alone * shared_cycles(phase.work, table.block.pipe_overlap, core));
  return phase;
}

std::vector<Profile> efficient(const AttentionCall& call,
                               const EfficientTable& table,
                               const machine::Chip& chip) {
  const Tile tile = tile_of(std::max(call.head_dim, value_dim(call)));
  const Tiling tiling{.rows = tile.queries,
                      .keys = tile.keys,
                      .queries = call.seq_q,
                      .key_count = call.seq_kv,
                      .causal = call.causal && call.seq_q > 1};
  const ProfilePhase block = main_loop(call, tile, table, chip.core);
  ProfilePhase wait;
  wait.name = "first operands";
  wait.chain.fixed = Cycles(table.wait);
  ProfilePhase rest;
  rest.name = "prologue and epilogue";
  rest.work.issue = Instructions(table.unit * static_cast<double>(chip.core.schedulers));
  rest.chain.fixed = Cycles(table.block.alone * table.unit);
  const double heads = product(call.batch, call.heads);
  Profile profile;
  profile.kernel = fmt::format(
      "fmha_cutlassF_{}x{}_{}", tile.queries, tile.keys, tile.in_registers ? "rf" : "gmem");
  profile.family = "attention";
  profile.threads = int64_t{32} * tile.queries * tile.keys / 1024;
  profile.ctas_per_sm = 512 / profile.threads;  // kMinBlocksPerSm: 16 warps an SM
  std::vector<kernel::UnitKind> kinds;
  double read = 0;
  for (const auto& group : tile_groups(tiling, 8)) {
    kinds.push_back(unit_of(group.tiles * heads, group.mean.blocks, wait, block, rest));
    read += group.tiles * heads * group.mean.blocks * block.work.l2_read.value();
  }
  set_units(profile, std::move(kinds));
  profile.rounds = heads;
  profile.traffic = attention_traffic(call);
  profile.traffic.l2_read = Bytes(query_bytes(call) + read);
  profile.fixed = table.fixed;
  profile.behaviour.pipe_overlap = table.block.pipe_overlap;
  profile.behaviour.relative_error = table.error;
  profile.reasons.push_back(fmt::format("block {}x{} for head sizes {} and {} (cutlassF.h)",
                                        tile.queries,
                                        tile.keys,
                                        call.head_dim,
                                        value_dim(call)));
  return {std::move(profile)};
}

class EfficientAttention final : public Family {
 public:
  explicit EfficientAttention(EfficientTable table) : table_(table) {}

  bool serves(const Call& call) const override {
    const auto* attention = std::get_if<AttentionCall>(&call);
    return attention != nullptr && attention->backend == "efficient" && !attention->backward;
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& attention = std::get<AttentionCall>(call);
    ORR_TRY_VOID(check_attention(attention, chip));
    if (attention.window > 0 || !attention.lengths.empty()) {
      return make_error(ErrorCode::Unsupported,
                        "[library.attention] window or lengths: got backend efficient, need flash");
    }
    return Candidates{efficient(attention, table_, chip)};
  }

 private:
  EfficientTable table_;
};

}  // namespace

std::unique_ptr<Family> read_efficient_attention(NumberFile& file) {
  return std::make_unique<EfficientAttention>(
      EfficientTable{.block = read_flash_block(file, "efficient_attention"),
                     .wait = cycles(file, "efficient_attention.wait"),
                     .unit = cycles(file, "efficient_attention.unit"),
                     .step = cycles(file, "efficient_attention.step"),
                     .fixed = duration(file, "efficient_attention.fixed"),
                     .error = error_of(file, "efficient_attention")});
}

}  // namespace orrery::library
