// Delta rules over chunks of 64 tokens: seven kernels, their tiles and what they pass on.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/chunk_delta.h"

#include <algorithm>
#include <cmath>

#include "orrery/base/quantity.h"
#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;

// fla/ops/gated_delta_rule/chunk.py, as TensorRT-LLM 1.3 and SGLang have it
// (tensorrt_llm/_torch/modules/fla): with A = beta k k^T (strictly lower, decayed) of a chunk,
// w = (1 + A)^-1 beta k and u = (1 + A)^-1 beta v; the state then passes from chunk to chunk,
// writing each chunk's own down; outputs follow in parallel. Grids are (chunks, batch * v_heads)
// and, for the state and the output, a block of 64 columns of v besides.
constexpr double kChunk = 64;
constexpr double kColumns = 64;  // BV of chunk_fwd_kernel_o; the middle of the state's choices

struct Sizes {
  double tokens = 0;  // all sequences
  double chunks = 0;  // of all sequences, times v_heads
  double rows = 0;    // tokens x v_heads
  double length = 0;  // chunks of a sequence
  double sequences = 0;
  double k = 0;        // k_dim
  double v = 0;        // v_dim
  double splits = 1;   // blocks of columns of v
  double size = 2;     // bytes of an element
  double k_bytes = 0;  // of k (or q): all tokens, its own heads
  double decay = 4;    // bytes of the summed decay of a token and head
};

Sizes sizes_of(const StateMixCall& call) {
  Sizes s;
  const auto heads = static_cast<double>(call.v_heads);
  s.tokens = product(call.batch, call.seq);
  s.length = std::ceil(static_cast<double>(call.seq) / kChunk);
  s.sequences = static_cast<double>(call.batch) * heads;
  s.chunks = s.sequences * s.length;
  s.rows = s.tokens * heads;
  s.k = static_cast<double>(call.k_dim);
  s.v = static_cast<double>(call.v_dim);
  s.splits = std::ceil(s.v / kColumns);
  s.size = element_size(call.dtype).value();
  s.k_bytes = s.tokens * static_cast<double>(call.k_heads) * s.k * s.size;
  s.decay = call.kind == StateMix::KimiDelta ? 4 * s.k : 4;
  return s;
}

// Bytes of a chunk of n columns.
double tile(const Sizes& s, double columns) {
  return kChunk * columns * s.size;
}

TritonLaunch decay_sums(const Sizes& s) {
  const double bytes = kChunk * s.decay;
  return {.code = "cumsum",
          .kernel = "chunk_local_cumsum_scalar_kernel",
          .programs = s.chunks,
          .l2_read = bytes / 2,
          .l2_write = bytes,
          .moved = {.read = s.rows * s.decay / 2, .write = s.rows * s.decay}};
}

TritonLaunch key_products(const Sizes& s) {
  const double inner = 4 * kChunk;  // a row of A in fp32
  return {.code = "kkt",
          .kernel = "chunk_scaled_dot_kkt_fwd_kernel",
          .programs = s.chunks,
          .trips = s.k / 64,
          .flops = 2 * kChunk * kChunk * 64,
          .l2_read = tile(s, 64) + kChunk * s.decay * 64 / s.k,
          .l2_write = kChunk * inner * 64 / s.k,
          .first_waits = 1,
          .moved = {.read = s.k_bytes + s.rows * s.size,
                    .scratch = s.rows * s.decay,
                    .write = s.rows * inner}};
}

// Diagonal blocks of 16, row after row; each row is loaded when its turn comes, from L1.
TritonLaunch diagonal_inverses(const Sizes& s) {
  constexpr double kBlock = 16;
  const double rows = std::min(kBlock, std::max(2.0, s.rows / s.sequences));
  return {.code = "solve",
          .kernel = "solve_tril_16x16_kernel",
          .programs = s.chunks * (s.length > 1 ? 4 : std::ceil(s.rows / s.sequences / kBlock)),
          .trips = rows - 1,
          .l2_read = kBlock * kBlock * 4 / rows,
          .l2_write = kBlock * kBlock * 4 / rows,
          .waits = 0,
          .first_waits = 1,
          .moved = {.scratch = s.rows * kBlock * 4, .write = s.rows * kBlock * 4}};
}

// The six blocks below the diagonal by ten products of 16 x 16 in fp32, on the fp32 lanes.
TritonLaunch inverse(const Sizes& s) {
  constexpr double kRead = 6.0 / 16 * 256 + 64;  // bytes of a row of A, of the diagonal's inverses
  return {.code = "merge",
          .kernel = "merge_16x16_to_64x64_inverse_kernel",
          .programs = s.chunks,
          .l2_read = kChunk * kRead,
          .l2_write = tile(s, kChunk),
          .moved = {.scratch = s.rows * kRead, .write = s.rows * kChunk * s.size}};
}

TritonLaunch weighted(const Sizes& s) {
  const double trips = (s.k + s.v) / 64;
  const double inverse = tile(s, kChunk);
  return {.code = "wu",
          .kernel = "recompute_w_u_fwd_kernel",
          .programs = s.chunks,
          .trips = trips,
          .flops = 2 * kChunk * kChunk * 64,
          .l2_read = tile(s, 64) + (inverse + kChunk * s.decay) / trips,
          .l2_write = tile(s, 64),
          .first_waits = 1,
          .moved = {.read = s.k_bytes + s.rows * s.v * s.size,
                    .scratch = s.rows * (kChunk * s.size + s.decay),
                    .write = s.rows * (s.k + s.v) * s.size}};
}

// One program walks all chunks of a head's columns: its trips are what a long prompt waits for.
// Loads of w, u and k are prefetched; the decays are not.
TritonLaunch states(const Sizes& s) {
  const double state = s.k * kColumns * s.size;
  return {.code = "state",
          .kernel = "chunk_gated_delta_rule_fwd_kernel_h_blockdim64",
          .programs = s.sequences * s.splits,
          .trips = s.length,
          .flops = 4 * kChunk * s.k * kColumns,
          .l2_read = 2 * tile(s, s.k) + tile(s, kColumns) + kChunk * s.decay,
          .l2_write = tile(s, kColumns) + state,
          .waits = 1,
          .size = s.k / 128,
          .moved = {.read = s.k_bytes,
                    .scratch = s.rows * ((s.k + s.v) * s.size + s.decay),
                    .write = s.rows * s.v * s.size + s.chunks * s.k * s.v * s.size}};
}

TritonLaunch outputs(const Sizes& s) {
  return {.code = "output",
          .kernel = "chunk_fwd_kernel_o",
          .programs = s.chunks * s.splits,
          .flops = 2 * kChunk * (s.k * kColumns + s.k * kChunk + kChunk * kColumns),
          .l2_read = 2 * tile(s, s.k) + tile(s, kColumns) + s.k * kColumns * s.size,
          .l2_write = tile(s, kColumns),
          .waits = 2,
          .size = s.k / 128,
          .moved = {.read = 2 * s.k_bytes,
                    .scratch = s.rows * (s.v * s.size + s.decay) + s.chunks * s.k * s.v * s.size,
                    .write = s.rows * s.v * s.size}};
}

}  // namespace

std::vector<Profile> chunk_delta(const StateMixCall& call,
                                 const TritonTable& table,
                                 const machine::Chip& chip) {
  const Sizes s = sizes_of(call);
  std::vector<Profile> sequence;
  for (const TritonLaunch& each : {decay_sums(s),
                                   key_products(s),
                                   diagonal_inverses(s),
                                   inverse(s),
                                   weighted(s),
                                   states(s),
                                   outputs(s)}) {
    sequence.push_back(triton_profile(each, table, chip));
  }
  sequence.front().reasons.emplace_back(
      "prefill: seven kernels over chunks of 64 tokens (fla chunk_gated_delta_rule)");
  return sequence;
}

}  // namespace orrery::library
