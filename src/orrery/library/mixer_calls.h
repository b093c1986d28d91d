// Calls of layers that mix tokens by other means than full attention: recurrent states, causal
// convolutions, attention to a selection of the keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"

namespace orrery::library {

/// How a layer with a state per head S[k_dim, v_dim] decays it and adds to it, token by token:
enum class StateMix {
  GatedDelta,  // S = a (S - b k (k^T S)) + b k v^T, a scalar decay a head (Qwen3-Next, Qwen3.5)
  KimiDelta,   // the same with a decay per channel of k (Kimi Linear)
  Lightning,   // S = a S + k v^T, a constant decay a head (MiniMax-01, M1)
  Mamba1,      // a decay per channel and state, no products (falcon-mamba)
  Mamba2       // S = a S + dt B x^T, a scalar decay a head (Nemotron-H, Granite 4)
};
std::string_view name(StateMix kind);
Result<StateMix> parse_state_mix(std::string_view text);

/// A recurrent layer's kernels between its projections: `seq` new tokens of each of `batch`
/// sequences. step: one token a sequence, the state read and written back (decode); else a scan
/// over chunks of tokens (prefill), after which the last state is written.
///
///     Qwen3-Next      k_heads 16  k_dim 128  v_heads 32    v_dim 128   heads of q, k and of v
///     Nemotron-H      k_heads 8   k_dim 128  v_heads 64    v_dim 64    groups, state size, heads
///     MiniMax-M1      k_heads 64  k_dim 128  v_heads 64    v_dim 128
///     falcon-mamba    k_heads 1   k_dim 16   v_heads 8192  v_dim 1     state size, channels
struct StateMixCall {
  StateMix kind = StateMix::GatedDelta;
  bool step = false;
  int64_t batch = 1;
  int64_t seq = 1;  // 1 if step
  int64_t k_heads = 0;
  int64_t k_dim = 0;
  int64_t v_heads = 0;
  int64_t v_dim = 0;
  DType dtype = DType::BF16;
  DType state = DType::F32;  // of the state between calls
  bool fresh_state = false;  // decode: written beside the old one, in fp32, instead of over it
  std::string backend = {};  // "", or whose kernels: "fla", "flydsl"
  bool operator==(const StateMixCall&) const = default;
};

/// The causal convolution before such a layer, one filter of `taps` a channel, with its activation.
/// step: one token a sequence, after the last taps - 1 inputs, which are kept (decode).
struct Conv1dCall {
  bool step = false;
  int64_t batch = 1;
  int64_t seq = 1;  // 1 if step
  int64_t channels = 0;
  int64_t taps = 4;
  DType dtype = DType::BF16;
  std::string backend = {};  // "", or as whose build: "trtllm", "sglang"
  bool operator==(const Conv1dCall&) const = default;
};

/// The choice of keys in sparse attention: the score of a query with each key it may see is a sum
/// over `heads` of weighted relu(q_h k), all heads with one key; then the positions of the `topk`
/// largest. Query i of seq_q sees (seq_kv x compress - seq_q + i + 1) / compress keys, each of
/// which stands for `compress` tokens.
struct IndexerCall {
  int64_t batch = 1;
  int64_t seq_q = 1;
  int64_t seq_kv = 0;  // keys of the index, new ones included
  int64_t heads = 0;
  int64_t head_dim = 128;
  int64_t topk = 2048;
  int64_t compress = 1;
  DType dtype = DType::F8E4M3;
  bool operator==(const IndexerCall&) const = default;
};

/// Attention of each query to keys of its own choice, all heads with one key and its value a part
/// of it (absorbed latents: head_dim 576, of which 512 are the value): min(topk, what it sees) of
/// the seq_kv keys (topk 0: all that it sees, compress as in IndexerCall), and the last `window`
/// tokens beside them.
struct SparseAttentionCall {
  int64_t batch = 1;
  int64_t heads = 0;
  int64_t seq_q = 1;
  int64_t seq_kv = 0;
  int64_t head_dim = 576;
  int64_t head_dim_v = 512;
  int64_t topk = 2048;
  int64_t window = 0;
  int64_t compress = 1;
  DType dtype = DType::BF16;
  DType kv_dtype = DType::BF16;
  bool operator==(const SparseAttentionCall&) const = default;
};

std::string text_of(const StateMixCall& call);
std::string text_of(const Conv1dCall& call);
std::string text_of(const IndexerCall& call);
std::string text_of(const SparseAttentionCall& call);

/// A call's sizes by name, those that have to be at least 1.
std::vector<std::pair<std::string_view, int64_t>> positive_sizes(const StateMixCall& call);
std::vector<std::pair<std::string_view, int64_t>> positive_sizes(const Conv1dCall& call);
std::vector<std::pair<std::string_view, int64_t>> positive_sizes(const IndexerCall& call);
std::vector<std::pair<std::string_view, int64_t>> positive_sizes(const SparseAttentionCall& call);

}  // namespace orrery::library
