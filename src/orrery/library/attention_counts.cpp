// Attention's counts: blocks under a mask, groups of tiles, bytes.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/attention_counts.h"

#include <algorithm>
#include <utility>

#include "orrery/library/counts.h"

namespace orrery::library {

TileBlocks blocks_of(const Tiling& tiling, int64_t tile) {
  const int64_t all = ceil_div(tiling.key_count, tiling.keys);
  const int64_t offset = tiling.key_count - tiling.queries;
  int64_t last = all;
  int64_t first = 0;
  if (tiling.causal || tiling.window > 0) {
    const int64_t seen = (tile + 1) * tiling.rows + offset;
    last = std::clamp<int64_t>(ceil_div(std::max<int64_t>(0, seen), tiling.keys), 0, all);
  }
  if (tiling.window > 0) {
    const int64_t before = tile * tiling.rows + offset - tiling.window;
    first = std::max<int64_t>(0, before) / tiling.keys;
  }
  const int64_t blocks = std::max<int64_t>(0, last - first);
  const int64_t masked = tiling.window > 0 ? blocks : std::min(blocks, tiling.masked_steps);
  return {static_cast<double>(blocks), static_cast<double>(masked)};
}

kernel::UnitKind unit_of(double count,
                         double blocks,
                         const kernel::ProfilePhase& wait,
                         const kernel::ProfilePhase& loop,
                         kernel::ProfilePhase rest) {
  kernel::UnitKind kind{count, {wait}};
  if (blocks > 0) {
    kind.phases.push_back(loop);
    kind.phases.back().trips = blocks;
  }
  kind.phases.push_back(std::move(rest));
  return kind;
}

std::vector<TileGroup> tile_groups(const Tiling& tiling, int64_t most) {
  const int64_t tiles = ceil_div(tiling.queries, tiling.rows);
  if (!tiling.causal && tiling.window == 0) {
    return {{static_cast<double>(tiles), blocks_of(tiling, 0)}};
  }
  const int64_t groups = std::min(tiles, most);
  std::vector<TileGroup> result;
  result.reserve(static_cast<size_t>(groups));
  for (int64_t group = 0; group < groups; ++group) {
    const auto bound = [&](int64_t g) {
      return whole(product(tiles, g) / static_cast<double>(groups));
    };
    const int64_t first = bound(group);
    const int64_t last = bound(group + 1);
    // Blocks grow evenly along a group (or stay the same): its ends have its mean.
    const TileBlocks a = blocks_of(tiling, first);
    const TileBlocks b = blocks_of(tiling, last - 1);
    result.push_back({static_cast<double>(last - first),
                      {0.5 * (a.blocks + b.blocks), 0.5 * (a.masked + b.masked)}});
  }
  return result;
}

double key_element(const AttentionCall& call) {
  return call.kv_dtype ? element_size(*call.kv_dtype).value() : kAttentionElement;
}

double query_bytes(const AttentionCall& call) {
  return product(call.batch, call.heads, call.seq_q, call.head_dim, kAttentionElement);
}

double output_bytes(const AttentionCall& call) {
  return product(call.batch, call.heads, call.seq_q, value_dim(call), kAttentionElement);
}

double cache_bytes(const AttentionCall& call) {
  const int64_t reach = call.window > 0 ? call.seq_q + call.window : call.seq_kv;
  return product(call.batch,
                 call.kv_heads,
                 std::min(call.seq_kv, reach),
                 call.values_in_keys ? call.head_dim : call.head_dim + value_dim(call),
                 key_element(call));
}

kernel::Traffic attention_traffic(const AttentionCall& call) {
  const double fresh =
      std::min(1.0, static_cast<double>(call.seq_q) / static_cast<double>(call.seq_kv));
  const double query = query_bytes(call);
  const double read = query + cache_bytes(call);
  const double written = output_bytes(call);
  kernel::Traffic traffic;
  traffic.unique_read = Bytes(read);
  traffic.recent_read = Bytes(query + fresh * cache_bytes(call));
  traffic.unique_write = Bytes(written);
  traffic.dram_read = Bytes(read);
  traffic.dram_write = Bytes(written);
  traffic.l2_read = Bytes(read);
  traffic.l2_write = Bytes(written);
  return traffic;
}

Result<void> check_attention(const AttentionCall& call, const machine::Chip& chip) {
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
  return {};
}

kernel::Traffic packed_traffic(const AttentionCall& call, const machine::Chip& chip) {
  double queries = 0;
  double keys = 0;
  for (size_t i = 0; i < call.lengths.size(); ++i) {
    queries += static_cast<double>(call.lengths[i]);
    keys += static_cast<double>(call.key_lengths[i]);
  }
  const auto width = static_cast<double>(call.head_dim + value_dim(call));
  const double a_head = keys * width * key_element(call);
  const double cache = a_head * static_cast<double>(call.kv_heads);
  const double query = queries * product(call.heads, call.head_dim, kAttentionElement);
  const double written = queries * product(call.heads, value_dim(call), kAttentionElement);
  const int64_t sharers = call.seq_q == 1 ? 1 : call.heads / call.kv_heads;  // of a key head
  const auto group = static_cast<double>(sharers);
  kernel::Traffic traffic = streamed(query + cache, written);
  traffic.recent_read = Bytes(query + cache * std::min(1.0, queries / std::max(1.0, keys)));
  const double again = (group - 1) * (1 - machine::resident_share(a_head, chip.l2));
  traffic.dram_read = Bytes(query + cache * (1 + again));
  return traffic;
}

}  // namespace orrery::library
