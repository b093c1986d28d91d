// Calls: operators with their sizes, as a framework hands them to a library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/library/mixer_calls.h"

namespace orrery::library {

// A call has no layout of ours and no kernel yet. The library answers with *candidates*: one
// sequence of profiles where its rule is known from source or from launch geometry
// (FlashAttention's splits, PyTorch's reductions), several where it decides by heuristics of its
// own that we do not have; the estimator then takes the fastest and corrects for the bias of a
// minimum.

/// How A (first letter) and B lie in memory: N row-major as in C = A B, T transposed. NT is a
/// linear layer, whose k is contiguous in both; NN and TN are its backward products.
enum class GemmLayout { NT, NN, TN, TT };
std::string_view name(GemmLayout layout);

/// How the operands of a product are quantised beyond their types (gemm_types.h).
enum class Quantisation {
  None,
  Block128,     // fp8: an fp32 scale per 1 x 128 of A and per 128 x 128 of B
  Int4Weights,  // B: 4-bit integers, a scale and a zero per 128 of k
  Mx,           // a power of two per 32 of k
  Nv            // an fp8 scale per 16 of k
};

/// C[m, n] = A[m, k] B[n, k]^T per batch, plus nothing (a linear layer without bias).
struct GemmCall {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  DType input = DType::BF16;
  DType output = DType::BF16;
  GemmLayout layout = GemmLayout::NT;
  std::string kernel = {};  // by name, instead of the one that the library takes
  Quantisation quantisation = Quantisation::None;
  bool operator==(const GemmCall&) const = default;
};

/// One product per group: C_g[rows_g, n] = A_g[rows_g, k] B_g[n, k]^T. An expert without rows is a
/// group of 0.
struct GroupedGemmCall {
  std::vector<int64_t> rows;
  int64_t n = 0;
  int64_t k = 0;
  DType dtype = DType::BF16;
  bool operator==(const GroupedGemmCall&) const = default;
};

/// One layer of experts: each of `tokens` goes to topk experts; rows has the tokens of each expert
/// (their sum is tokens x topk). Gate and up projection (one product if gated), activation, down.
struct MoeCall {
  int64_t tokens = 0;
  int64_t hidden = 0;
  int64_t inter = 0;
  int64_t topk = 1;
  std::vector<int64_t> rows;
  bool gated = true;
  DType dtype = DType::BF16;
  bool operator==(const MoeCall&) const = default;
};

/// Scaled dot-product attention. backend: "cudnn", "flash", "efficient" or "" (the framework's
/// default). Query i of n sees the keys up to i + (seq_kv - n) if causal.
struct AttentionCall {
  int64_t batch = 1;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t seq_q = 1;
  int64_t seq_kv = 0;
  int64_t head_dim = 0;
  bool causal = false;
  DType dtype = DType::BF16;
  std::string backend;
  int64_t head_dim_v = 0;             // of the values; 0: head_dim
  int64_t window = 0;                 // keys before its own that a query sees; 0: all
  bool backward = false;              // the gradients of q, k and v instead
  std::vector<int64_t> lengths = {};  // packed sequences of these lengths instead of equal ones
  bool operator==(const AttentionCall&) const = default;
};

enum class ImageLayout { Nchw, Nhwc };

/// A 2-D convolution of `batch` images of c x h x w by k filters of c / groups x r x s.
struct ConvCall {
  int64_t batch = 1;
  int64_t c = 0;
  int64_t h = 0;
  int64_t w = 0;
  int64_t k = 0;
  int64_t r = 1;
  int64_t s = 1;
  int64_t stride = 1;
  int64_t pad = 0;
  int64_t dilation = 1;
  int64_t groups = 1;
  ImageLayout layout = ImageLayout::Nchw;
  DType dtype = DType::BF16;
  bool operator==(const ConvCall&) const = default;
};

/// A kernel over rows x cols by its operator's name: add, mul, silu, copy, rms_norm, layer_norm,
/// softmax, embedding ... `strided`: an operand is a view that is not contiguous or is broadcast,
/// which takes the framework's slower kernel.
struct RowsCall {
  std::string op;
  int64_t rows = 0;
  int64_t cols = 0;
  DType dtype = DType::BF16;
  bool strided = false;
  bool operator==(const RowsCall&) const = default;
};

/// A collective among the GPUs of one node: all_reduce, all_gather, reduce_scatter, all_to_all,
/// broadcast, send_recv. `bytes` is the input of one GPU; `stream`: launched by the host, call by
/// call, rather than inside a CUDA graph.
struct CollectiveCall {
  std::string op;
  int64_t bytes = 0;
  int64_t gpus = 2;
  bool stream = false;
  bool operator==(const CollectiveCall&) const = default;
};

using Call = std::variant<GemmCall,
                          AttentionCall,
                          RowsCall,
                          GroupedGemmCall,
                          ConvCall,
                          CollectiveCall,
                          MoeCall,
                          StateMixCall,
                          Conv1dCall,
                          IndexerCall,
                          SparseAttentionCall>;

/// The name of a call's operator: gemm, attention, grouped_gemm, conv, or the row
/// operator's or collective's own.
std::string_view name(const Call& call);

/// "gemm m=32 n=6144 k=4096 dtype=bf16", as the command line takes it.
std::string to_text(const Call& call);

/// A call's sizes by name, those that have to be at least 1 first.
using NamedSizes = std::vector<std::pair<std::string_view, int64_t>>;
NamedSizes positive_sizes(const Call& call);

}  // namespace orrery::library
