// Tiles and splits of the attention kernels of serving frameworks, as their sources choose them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/library/call.h"
#include "orrery/library/framework_tables.h"
#include "orrery/machine/machine.h"

namespace orrery::library {

/// How one new token a sequence is cut up: CTAs = batch x kv_heads x groups x splits.
struct DecodeShape {
  double rows = 1;    // query rows of a CTA
  double keys = 1;    // of a block
  double groups = 1;  // CTAs that share a key head's rows
  double splits = 1;
  double blocks = 1;  // of the CTA that has most
  double slots = 1;   // CTAs an SM holds
};

// Rules of a decode section:
//   fill     as many splits as fill the SMs' slots once, of at least least_keys keys
//   always   most_splits, of at least least_keys (Triton's kernels: a setting of the server)
//   none     one
//   flash2   num_splits_heuristic of FlashAttention 2's variable-length entry (flash_api.cpp),
//   which
//            splits only where it packs heads: several to a key head, no window
//   flash3   tile_size.h and heuristics.h of FlashAttention 3, splits within most_splits
//   xqa      (before tcgen05) decoderXQAImplCommon.h of TensorRT-LLM: 128 tokens a split, eight
//   waves at most, and
//            splits before the window are launched all the same
DecodeShape decode_shape(const AttentionCall& call,
                         const DecodeTable& table,
                         const machine::Chip& chip);

/// The chip has Blackwell's tensor cores, for which TensorRT-LLM has trtllm-gen instead of XQA: its
/// splits fill the SMs once.
bool has_tcgen05(const machine::Chip& chip);

/// Whether TensorRT-LLM's kernel for grouped heads serves this call, and not masked multi-head
/// attention: at most 32 query heads a key head; XQA (kernelUtils.cpp, decoderXQAImplJIT.cpp) also
/// wants 2 of them at least, head sizes up to 256, and of 16-bit caches work for a quarter of the
/// SMs.
bool grouped_kernel_serves(const AttentionCall& call,
                           bool xqa,
                           bool fp8_cache,
                           const machine::Chip& chip);

/// Queries and keys of a prefill tile.
struct PrefillTile {
  double rows = 0;
  double keys = 0;
};

// Rules of a prefill section: tiles (rows and keys as stated, half the keys beyond a head size of
// 128), flash2, flash3, flashinfer (16, 64 or 128 rows by how many there are).
/// The head size that a prefill kernel computes with: FlashAttention pads to sizes it has.
int64_t padded_dim(int64_t head_dim, const PrefillTable& table);

PrefillTile prefill_tile(const AttentionCall& call, const PrefillTable& table, bool fp8);

}  // namespace orrery::library
