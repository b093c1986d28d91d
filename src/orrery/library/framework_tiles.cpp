// Tiles and splits.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/framework_tiles.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "orrery/library/attention_counts.h"
#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

double group_of(const AttentionCall& call) {
  return static_cast<double>(call.heads) / static_cast<double>(call.kv_heads);
}

double keys_seen(const AttentionCall& call) {
  return static_cast<double>(call.window > 0 ? std::min(call.seq_kv, call.window) : call.seq_kv);
}

// Blocks of keys that the last query sees: a window may begin within one.
double blocks_seen(const AttentionCall& call, double keys) {
  const auto length = static_cast<double>(call.seq_kv);
  const double first =
      call.window > 0 ? std::max(0.0, length - 1 - static_cast<double>(call.window)) : 0;
  return std::ceil(length / keys) - std::floor(first / keys);
}

// FlashAttention 3, hopper/tile_size.h at 16-bit and 8-bit elements, pages read without TMA.
PrefillTile flash3_tile(int64_t head_dim, bool local, bool causal, bool fp8, bool one_group) {
  if (head_dim <= 64) {
    return fp8 ? PrefillTile{192, 160} : PrefillTile{192, causal ? 128.0 : local ? 160.0 : 192.0};
  }
  if (head_dim <= 96) {
    return fp8 ? PrefillTile{192, 128} : PrefillTile{192, local ? 128.0 : 144.0};
  }
  if (head_dim <= 128) {
    const double rows = one_group ? 64 : 128;
    if (fp8) {
      return {rows, one_group ? 96.0 : 160.0};
    }
    return {rows, causal || local ? 128.0 : 176.0};
  }
  if (head_dim <= 192) {
    return fp8 ? PrefillTile{128, 160} : PrefillTile{128, local ? 96.0 : 112.0};
  }
  return fp8 ? PrefillTile{128, local ? 64.0 : 128.0} : PrefillTile{128, local ? 64.0 : 80.0};
}

// The fewest splits whose waves are at least 85 % as full as the best count's.
double fullest(double tiles, double slots, double most) {
  const auto efficiency = [&](double splits) {
    const double waves = tiles * splits / slots;
    return waves / std::ceil(waves);
  };
  double best = 0;
  for (double splits = 1; splits <= most; ++splits) {
    best = std::max(best, efficiency(splits));
  }
  for (double splits = 1; splits <= most; ++splits) {
    if (efficiency(splits) >= 0.85 * best) {
      return splits;
    }
  }
  return 1;
}

// num_splits_heuristic of hopper/heuristics.h for one sequence (lengths vary, so the batch is not
// known), then flash_prepare_scheduler.cu: as few as keep all SMs at work, a tenth to spare.
double flash3_splits(const AttentionCall& call,
                     double blocks,
                     double tiles,
                     double most,
                     const machine::Chip& chip) {
  const auto sms = static_cast<double>(chip.core.count);
  double allowed = most;
  if (!(most > 1)) {
    const double one = static_cast<double>(call.kv_heads) * tiles;
    allowed =
        one >= 0.8 * sms || blocks <= 4 ? 1 : fullest(one, sms, std::min({128.0, sms, blocks}));
  }
  const double total = blocks * tiles * static_cast<double>(call.batch);
  const double a_cta = std::ceil(1.1 * total * static_cast<double>(call.kv_heads) / sms);
  return std::max(1.0, std::min(std::ceil(blocks / a_cta), allowed));
}

// num_splits_heuristic of FlashAttention 2 (flash_api.cpp): of equal counts of blocks the first.
double flash2_splits(double tiles, double blocks, const machine::Chip& chip) {
  const double slots = 2 * static_cast<double>(chip.core.count);
  const double most = std::min({128.0, slots, blocks});
  return tiles >= 0.8 * slots ? 1 : fullest(tiles, slots, most);
}

DecodeShape flash3_shape(const AttentionCall& call,
                         const DecodeTable& table,
                         const machine::Chip& chip) {
  const bool fp8 = call.kv_dtype.value_or(call.dtype) == DType::F8E4M3;
  const PrefillTile tile = flash3_tile(call.head_dim, true, false, fp8, group_of(call) <= 64);
  DecodeShape shape{.rows = tile.rows, .keys = tile.keys};
  shape.groups = std::ceil(group_of(call) / tile.rows);
  const double blocks = blocks_seen(call, tile.keys);
  shape.splits = flash3_splits(call, blocks, shape.groups, table.most_splits, chip);
  shape.blocks = std::ceil(blocks / shape.splits);
  return shape;
}

DecodeShape flash2_shape(const AttentionCall& call, const machine::Chip& chip) {
  const bool packed = call.window == 0 && call.heads > call.kv_heads;
  const int64_t d = call.head_dim;
  DecodeShape shape{.rows = packed ? 64.0 : 1.0, .keys = d <= 64 ? 256.0 : d <= 128 ? 128.0 : 64.0};
  shape.groups = std::ceil(group_of(call) / shape.rows);
  const double blocks = std::ceil(static_cast<double>(call.seq_kv) / shape.keys);
  if (packed) {
    shape.splits = flash2_splits(product(call.batch, call.kv_heads) * shape.groups, blocks, chip);
  }
  shape.blocks = std::min(std::ceil(blocks / shape.splits), blocks_seen(call, shape.keys));
  shape.slots = 2;
  return shape;
}

// computeMultiBlockCount: 128 tokens (kMinHistoryTokensPerBlock) a split, eight waves of CTAs
// (kTargetWaveFactor); the history counts, not the window.
DecodeShape xqa_shape(const AttentionCall& call,
                      const DecodeTable& table,
                      const machine::Chip& chip) {
  constexpr double kTokens = 128;
  constexpr double kWaves = 8;
  const double tiles = product(call.batch, call.kv_heads);
  const double history = static_cast<double>(call.seq_kv - 1);
  const double most = std::floor(kWaves * static_cast<double>(chip.core.count) / tiles);
  DecodeShape shape{.rows = 32, .keys = table.keys, .slots = table.slots};
  shape.splits = std::max(1.0, std::min({std::floor(history / kTokens), most, table.most_splits}));
  const double all = std::ceil(static_cast<double>(call.seq_kv) / table.keys);
  shape.blocks = std::min(std::ceil(all / shape.splits), blocks_seen(call, table.keys));
  return shape;
}

DecodeShape plain_shape(const AttentionCall& call,
                        const DecodeTable& table,
                        const machine::Chip& chip) {
  DecodeShape shape{.rows = table.rows, .keys = table.keys, .slots = table.slots};
  shape.groups = std::ceil(group_of(call) / table.rows);
  const double seen = keys_seen(call);
  const double tiles = product(call.batch, call.kv_heads) * shape.groups;
  double wanted = 1;
  if (table.rule == "fill" || table.rule == "xqa") {
    wanted = std::floor(table.slots * static_cast<double>(chip.core.count) / tiles);
  } else if (table.rule == "always") {
    wanted = table.most_splits;
  }
  const double longest = std::max(1.0, std::floor(seen / std::max(1.0, table.least_keys)));
  shape.splits = std::clamp(std::min(wanted, table.most_splits), 1.0, longest);
  shape.blocks = std::ceil(blocks_seen(call, table.keys) / shape.splits);
  return shape;
}

}  // namespace

DecodeShape decode_shape(const AttentionCall& call,
                         const DecodeTable& table,
                         const machine::Chip& chip) {
  if (table.rule == "flash3") {
    return flash3_shape(call, table, chip);
  }
  if (table.rule == "flash2") {
    return flash2_shape(call, chip);
  }
  if (table.rule == "xqa" && !has_tcgen05(chip)) {
    return xqa_shape(call, table, chip);
  }
  return plain_shape(call, table, chip);
}

bool has_tcgen05(const machine::Chip& chip) {
  return std::string_view(chip.architecture).starts_with("sm_10");
}

bool grouped_kernel_serves(const AttentionCall& call,
                           bool xqa,
                           bool fp8_cache,
                           const machine::Chip& chip) {
  constexpr double kMostRows = 32;
  constexpr double kTokens = 128;
  constexpr double kEnough = 4;  // kEnableMinBlockFactor
  const double group = group_of(call);
  if (group > kMostRows || !xqa) {
    return group <= kMostRows;
  }
  if (group < 2 || call.head_dim > 256) {
    return false;
  }
  const double history = std::max(1.0, std::floor(static_cast<double>(call.seq_kv - 1) / kTokens));
  return (fp8_cache && chip.architecture == "sm_90a") ||
         kEnough * product(call.batch, call.kv_heads) * history >=
             static_cast<double>(chip.core.count);
}

int64_t padded_dim(int64_t head_dim, const PrefillTable& table) {
  if (table.rule != "flash2" && table.rule != "flash3") {
    return head_dim;
  }
  for (const int64_t size : {64, 96, 128, 192, 256}) {  // round_up_headdim, HEADDIM_SWITCH
    if (head_dim <= size) {
      return size;
    }
  }
  return head_dim;
}

PrefillTile prefill_tile(const AttentionCall& call, const PrefillTable& table, bool fp8) {
  const double group = table.packed ? group_of(call) : 1;
  if (table.rule == "flash3") {
    const double rows = group * static_cast<double>(call.seq_q);
    return flash3_tile(call.head_dim, call.window > 0, call.causal, fp8, rows <= 64);
  }
  if (table.rule == "flash2") {  // flash_fwd_launch_template.h
    return {call.head_dim > 192 ? 64.0 : 128.0, call.head_dim <= 64 ? 128.0 : 64.0};
  }
  const double keys = call.head_dim > 128 ? table.keys / 2 : table.keys;
  if (table.rule == "flashinfer") {  // FA2DetermineCtaTileQ of utils.cuh
    const double rows = group * static_cast<double>(call.seq_q);
    return {rows > 64 && call.head_dim < 256 ? 128.0 : rows > 16 ? 64.0 : 16.0, keys};
  }
  return {table.rows, keys};
}

}  // namespace orrery::library
