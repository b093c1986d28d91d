// Scans over chunks: their kernels, tiles and what they pass on.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/chunk_scan.h"

#include <algorithm>
#include <cmath>

#include "orrery/base/quantity.h"
#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;

std::vector<Profile> profiles_of(std::initializer_list<TritonLaunch> launches,
                                 const TritonTable& table,
                                 const machine::Chip& chip,
                                 const char* reason) {
  std::vector<Profile> sequence;
  for (const TritonLaunch& each : launches) {
    sequence.push_back(triton_profile(each, table, chip));
  }
  sequence.front().reasons.emplace_back(reason);
  return sequence;
}

struct Sizes {
  double sequences = 0;  // batch
  double heads = 0;
  double groups = 0;
  double state = 0;   // k_dim
  double dim = 0;     // v_dim
  double size = 2;    // bytes of an element
  double rows = 0;    // tokens x heads
  double blocks = 0;  // chunks of all sequences
  double length = 0;  // chunks of a sequence
};

Sizes sizes_of(const StateMixCall& call, double chunk) {
  Sizes s;
  s.sequences = static_cast<double>(call.batch);
  s.heads = static_cast<double>(call.v_heads);
  s.groups = static_cast<double>(call.k_heads);
  s.state = static_cast<double>(call.k_dim);
  s.dim = static_cast<double>(call.v_dim);
  s.size = element_size(call.dtype).value();
  s.rows = product(call.batch, call.seq) * s.heads;
  s.length = std::ceil(static_cast<double>(call.seq) / chunk);
  s.blocks = s.sequences * s.length;
  return s;
}

// mamba_ssm/ops/triton/ssd_*.py: chunks of 128 tokens. The tiles are the middle of what the kernels
// tune among: 64 x 128 of the state, 64 x 128 and 128 x 64 of a chunk's products, depth 32.
constexpr double kChunk = 128;
constexpr double kDepth = 32;

TritonLaunch decays(const Sizes& s) {
  constexpr double kHeads = 4;  // BLOCK_SIZE_H
  return {.code = "ssd_cumsum",
          .kernel = "_chunk_cumsum_fwd_kernel",
          .programs = s.blocks * std::ceil(s.heads / kHeads),
          .l2_read = kHeads * kChunk * s.size,
          .l2_write = kHeads * kChunk * 8,
          .moved = {.read = s.rows * s.size, .write = s.rows * 8}};
}

TritonLaunch chunk_states(const Sizes& s, double tokens) {
  const double tiles = std::ceil(s.dim / 64) * std::ceil(s.state / 128);
  const double trips = std::ceil(std::min(kChunk, tokens) / kDepth);
  return {.code = "ssd_state",
          .kernel = "_chunk_state_fwd_kernel",
          .programs = s.blocks * s.heads * tiles,
          .trips = trips,
          .flops = 2 * 64 * 128 * kDepth,
          .l2_read = kDepth * ((64 + 128) * s.size + 8),
          .l2_write = 64 * 128 * 4 / trips,
          .first_waits = 1,
          .moved = {.read = s.rows * (s.dim + s.state * s.groups / s.heads) * s.size,
                    .scratch = s.rows * 8,
                    .write = s.blocks * s.heads * s.dim * s.state * 4}};
}

// One program walks all chunks of 1024 elements of a head's state.
TritonLaunch pass_states(const Sizes& s) {
  constexpr double kElements = 1024;
  const double states = s.heads * s.dim * s.state;  // of all heads, elements
  return {.code = "ssd_pass",
          .kernel = "_state_passing_fwd_kernel",
          .programs = s.sequences * s.heads * std::ceil(s.dim * s.state / kElements),
          .trips = s.length,
          .l2_read = kElements * 4,
          .l2_write = kElements * s.size,
          .moved = {.scratch = s.blocks * states * 4,
                    .write = s.blocks * states * s.size + s.sequences * states * 4}};
}

TritonLaunch chunk_products(const Sizes& s) {
  const double trips = std::ceil(s.state / kDepth);
  return {.code = "ssd_bmm",
          .kernel = "_bmm_chunk_fwd_kernel",
          .programs = s.blocks * s.groups * (kChunk / 64) * (kChunk / 128),
          .trips = trips,
          .flops = 2 * 64 * 128 * kDepth,
          .l2_read = kDepth * (64 + 128) * s.size,
          .l2_write = 64 * 128 * 4 / trips,
          .first_waits = 1,
          .moved = {.read = 2 * s.rows / s.heads * s.groups * s.state * s.size,
                    .write = s.blocks * s.groups * kChunk * kChunk * 4}};
}

TritonLaunch outputs(const Sizes& s, double tokens) {
  const double trips = std::ceil(std::min(kChunk, tokens) / kDepth);
  const double first = kChunk * s.state + 64 * s.state;  // C and the state before the chunk
  return {.code = "ssd_scan",
          .kernel = "_chunk_scan_fwd_kernel",
          .programs = s.blocks * s.heads * std::ceil(s.dim / 64),
          .trips = trips,
          .flops = 2 * kChunk * 64 * kDepth + 2 * kChunk * 64 * s.state / trips,
          .l2_read = kDepth * (kChunk * 4 + 64 * s.size + 8) + first * s.size / trips,
          .l2_write = kChunk * 64 * s.size / trips,
          .first_waits = 1,
          .moved = {.read = s.rows * (s.dim + s.state * s.groups / s.heads) * s.size,
                    .scratch = s.blocks * (s.heads * s.dim * s.state * s.size +
                                           s.groups * kChunk * kChunk * 4) +
                               s.rows * 8,
                    .write = s.rows * s.dim * s.size}};
}

// vllm/model_executor/layers/lightning_attn.py: blocks of 256 tokens, products in fp32 (tf32).
constexpr double kBlock = 256;

TritonLaunch diagonal(const Sizes& s) {
  constexpr double kRows = 32;                             // CBLOCK
  constexpr double kTrips = (kBlock / kRows + 1) / 2;      // of 1 to 8
  const double trip = kRows * (s.state + s.dim) * s.size;  // of k and v
  const double own = kRows * s.state * s.size;             // of q
  return {
      .code = "lightning_diagonal",
      .kernel = "_fwd_diag_kernel",
      .programs = std::ceil(s.rows / kRows),
      .trips = kTrips,
      .flops = 2 * kRows * kRows * (s.state + s.dim),
      .l2_read = trip + own / kTrips,
      .l2_write = kRows * s.dim * s.size / kTrips,
      .first_waits = 1,
      .fp32 = true,
      .moved = {.read = s.rows * (2 * s.state + s.dim) * s.size, .write = s.rows * s.dim * s.size}};
}

TritonLaunch block_states(const Sizes& s) {
  constexpr double kRows = 64;
  return {.code = "lightning_state",
          .kernel = "_fwd_kv_parallel",
          .programs = s.blocks * s.heads,
          .trips = kBlock / kRows,
          .flops = 2 * kRows * s.state * s.dim,
          .l2_read = kRows * (s.state + s.dim) * s.size,
          .l2_write = s.state * s.dim * 4 * kRows / kBlock,
          .first_waits = 1,
          .moved = {.read = s.rows * (s.state + s.dim) * s.size,
                    .write = s.blocks * s.heads * s.state * s.dim * 4}};
}

TritonLaunch reduce_states(const Sizes& s) {
  const double state = s.state * s.dim;
  const double all = s.blocks * s.heads * state * 4;
  return {.code = "ssd_pass",
          .kernel = "_fwd_kv_reduce",
          .programs = s.sequences * s.heads,
          .trips = s.length,
          .l2_read = state * 4,
          .l2_write = state * 4,
          .size = state / 1024,
          .moved = {.read = s.sequences * s.heads * state * 4,
                    .scratch = all,
                    .write = all + s.sequences * s.heads * state * 4}};
}

TritonLaunch off_diagonal(const Sizes& s) {
  constexpr double kRows = 64;
  const double state = s.state * s.dim;
  return {.code = "lightning_output",
          .kernel = "_fwd_none_diag_kernel",
          .programs = std::ceil(s.rows / kRows),
          .flops = 2 * kRows * state,
          .l2_read = state * 4 + kRows * (s.state + s.dim) * s.size,
          .l2_write = kRows * s.dim * s.size,
          .fp32 = true,
          .moved = {.read = s.rows * s.state * s.size,
                    .scratch = s.rows * s.dim * s.size + s.blocks * s.heads * state * 4,
                    .write = s.rows * s.dim * s.size}};
}

}  // namespace

std::vector<Profile> mamba2_scan(const StateMixCall& call,
                                 const TritonTable& table,
                                 const machine::Chip& chip) {
  const Sizes s = sizes_of(call, kChunk);
  const auto tokens = static_cast<double>(call.seq);
  return profiles_of(
      {decays(s), chunk_states(s, tokens), pass_states(s), chunk_products(s), outputs(s, tokens)},
      table,
      chip,
      "prefill: five kernels over chunks of 128 tokens (mamba_ssm "
      "mamba_chunk_scan_combined)");
}

std::vector<Profile> lightning_scan(const StateMixCall& call,
                                    const TritonTable& table,
                                    const machine::Chip& chip) {
  const Sizes s = sizes_of(call, kBlock);
  return profiles_of({diagonal(s), block_states(s), reduce_states(s), off_diagonal(s)},
                     table,
                     chip,
                     "prefill: four kernels over blocks of 256 tokens (vLLM lightning_attention)");
}

std::vector<Profile> selective_scan(const StateMixCall& call,
                                    const TritonTable& table,
                                    const machine::Chip& chip) {
  // csrc/selective_scan/selective_scan_fwd_kernel.cuh: a block of up to 128 threads of 16 elements
  // walks a channel; per state it loads B and C of the tokens, scans and adds.
  constexpr double kTokens = 2048;
  const Sizes s = sizes_of(call, kTokens);
  const double tokens = std::min(kTokens, static_cast<double>(call.seq));
  const double channels = s.heads * s.dim;
  const double all = s.rows * s.dim;  // tokens x channels
  const TritonLaunch launch{
      .code = "selective_scan",
      .kernel = "selective_scan_fwd_kernel",
      .programs = s.sequences * channels,
      .trips = s.length * s.state,
      .l2_read = tokens * 2 * s.size + tokens * 3 * s.size / s.state,
      .l2_write = tokens * s.size / s.state,
      .first_waits = 1,
      .size = std::max(0.25, tokens / kTokens),
      .moved = {.read = all * 3 * s.size + 2 * all / channels * s.groups * s.state * s.size,
                .write = all * s.size + s.sequences * channels * s.state * 4}};
  return profiles_of({launch},
                     table,
                     chip,
                     "prefill: one block a channel, state after state (mamba_ssm selective_scan)");
}

}  // namespace orrery::library
