// Prefill kernels of serving frameworks.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/framework_prefill.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/attention_counts.h"
#include "orrery/library/counts.h"
#include "orrery/library/framework_decode.h"
#include "orrery/library/framework_tiles.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

ProfilePhase block_of(const AttentionCall& call,
                      const PrefillTile& tile,
                      const PrefillTable& table,
                      bool fp8,
                      const machine::Core& core) {
  const DType math = fp8 ? DType::F8E4M3 : call.dtype;
  const double scores = tile.rows * tile.keys;
  const auto dims =
      static_cast<double>(padded_dim(call.head_dim, table) + padded_dim(value_dim(call), table));
  const double share = std::min(1.0, table.tensor_share);
  ProfilePhase phase;
  phase.name = "blocks of keys";
  phase.work.tensor = Flops(2 * scores * dims);
  phase.work.tensor_type = math;
  phase.work.tensor_share = share;
  const double products = 2 * scores * dims / (core.tensor.at(math).value() * share);
  const bool own = call.head_dim % 16 == 0;
  phase.chain.fixed =
      Cycles((own ? 1 : table.odd) * (table.block + products + table.score * scores));
  return phase;
}

// The queries carry the keys' projection, so that all heads meet the cached latent itself.
AttentionCall absorbed(AttentionCall call) {
  constexpr int64_t kLatent = 512;
  constexpr int64_t kRope = 64;
  call.kv_heads = 1;
  call.head_dim = kLatent + kRope;
  call.head_dim_v = kLatent;
  return call;
}

kernel::Traffic traffic_of(const AttentionCall& call) {
  const double queries =
      product(call.batch, call.heads, call.seq_q, call.head_dim) * element_size(call.dtype).value();
  const double outputs = product(call.batch, call.heads, call.seq_q, value_dim(call), 2);
  const double cache = cached_bytes(call);
  kernel::Traffic traffic = streamed(queries + cache, outputs);
  traffic.recent_read = Bytes(
      queries +
      cache * std::min(1.0, static_cast<double>(call.seq_q) / static_cast<double>(call.seq_kv)));
  return traffic;
}

}  // namespace

Profile framework_prefill(const AttentionCall& asked,
                          std::string_view kernel,
                          const PrefillTable& table,
                          bool fp8,
                          const machine::Chip& chip) {
  const AttentionCall call = table.absorbed ? absorbed(asked) : asked;
  const PrefillTile tile = prefill_tile(call, table, fp8);
  const double group =
      table.packed ? static_cast<double>(call.heads) / static_cast<double>(call.kv_heads) : 1;
  const double queries = std::max(1.0, std::floor(tile.rows / group));
  const double copies =
      product(call.batch, call.heads) / group * std::max(1.0, std::ceil(group / tile.rows));
  const Tiling tiling{.rows = whole(queries),
                      .keys = whole(tile.keys),
                      .queries = call.seq_q,
                      .key_count = call.seq_kv,
                      .causal = call.causal,
                      .window = table.window ? call.window : 0};
  const double d = static_cast<double>(call.head_dim) / 128;
  ProfilePhase rest;
  rest.name = "prologue and epilogue";
  rest.chain.fixed = Cycles(table.unit + table.unit_dim * d);
  const ProfilePhase block = block_of(call, tile, table, fp8, chip.core);
  std::vector<kernel::UnitKind> kinds;
  for (const TileGroup& each : tile_groups(tiling, 8)) {
    kernel::UnitKind kind{each.tiles * copies, {rest}};
    if (each.mean.blocks > 0) {
      kind.phases.push_back(block);
      kind.phases.back().trips = each.mean.blocks;
    }
    kinds.push_back(std::move(kind));
  }
  std::reverse(kinds.begin(), kinds.end());  // long tiles first
  Profile profile;
  profile.kernel = std::string(kernel) + "_prefill";
  profile.family = "attention";
  profile.threads = 384;
  set_units(profile, std::move(kinds));
  profile.traffic = traffic_of(call);
  profile.fixed = Duration::from(Seconds(table.fixed));
  profile.behaviour.overlap = table.overlap;
  profile.behaviour.relative_error = table.error;
  profile.reasons.push_back(fmt::format("tile {}x{} for head size {}{} (rule {})",
                                        tile.rows,
                                        tile.keys,
                                        call.head_dim,
                                        table.packed ? ", heads of a key head packed" : "",
                                        table.rule));
  return profile;
}

}  // namespace orrery::library
