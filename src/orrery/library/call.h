// Calls: operators with their sizes, as a framework hands them to a library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/library/exchange_call.h"
#include "orrery/library/fused_call.h"
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
  Int8Weights,  // B: 8-bit integers, a scale per column of C
  Int8Scaled,   // A and B: 8-bit integers, scales per row and column of C, which is fp16
  Mx,           // a power of two per 32 of k
  Nv            // an fp8 scale per 16 of k
};

/// How A, which is bf16, becomes what the product reads: by a kernel of its own before it.
enum class QuantiseA {
  None,      // it comes as the product reads it
  Static,    // one scale, known
  Tensor,    // one scale, found first
  Token,     // a scale per row
  Group128,  // a scale per 128 of a row
  Group16    // fp4: an fp8 scale per 16 of a row
};
std::string_view name(QuantiseA quantise);
/// The kind of that name, if there is one.
std::optional<QuantiseA> parse_quantise(std::string_view name);

/// C[m, n] = A[m, k] B[n, k]^T per batch, plus nothing (a linear layer without bias). backend:
/// whose kernels: "" (cuBLAS, hipBLASLt: the framework's default), "cutlass", "deepgemm", "triton"
/// ...
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
  std::string backend = {};
  QuantiseA quantise = QuantiseA::None;
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
/// that this GPU holds (their sum is tokens x topk if it holds all of them). Gate and up projection
/// (one product if gated), activation, down. dtype is what the products multiply, quantisation how
/// the weights are stored (moe_types.h). backend: whose kernels, "triton", "cutlass" ... (moe.h);
/// "" for the framework's own operators one after the other.
struct MoeCall {
  int64_t tokens = 0;
  int64_t hidden = 0;
  int64_t inter = 0;
  int64_t topk = 1;
  std::vector<int64_t> rows;
  bool gated = true;
  DType dtype = DType::BF16;
  Quantisation quantisation = Quantisation::None;
  std::string backend = {};
  bool operator==(const MoeCall&) const = default;
};

/// Scaled dot-product attention. backend: "cudnn", "flash", "efficient", "" (the framework's
/// default), or a serving framework or a kernel of one (framework_attention.h). Query i of n sees
/// the keys up to i + (seq_kv - n) if causal.
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
  int64_t head_dim_v = 0;                 // of the values; 0: head_dim
  int64_t window = 0;                     // keys before its own that a query sees; 0: all
  bool backward = false;                  // the gradients of q, k and v instead
  std::vector<int64_t> lengths = {};      // packed sequences of so many queries, not equal ones
  std::vector<int64_t> key_lengths = {};  // and keys; empty: as many as queries
  std::optional<DType> kv_dtype = {};     // of the cache of keys and values; none: dtype
  bool values_in_keys = false;            // a value is the first head_dim_v numbers of its key
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
/// call, rather than inside a CUDA graph. backend: "" is NCCL, else a framework's own all-reduce.
struct CollectiveCall {
  std::string op;
  int64_t bytes = 0;
  int64_t gpus = 2;
  bool stream = false;
  DType dtype = DType::BF16;
  std::string backend = {};
  bool operator==(const CollectiveCall&) const = default;
};

using Call = std::variant<GemmCall,
                          AttentionCall,
                          RowsCall,
                          GroupedGemmCall,
                          ConvCall,
                          CollectiveCall,
                          ExpertExchangeCall,
                          MoeCall,
                          StateMixCall,
                          Conv1dCall,
                          IndexerCall,
                          SparseAttentionCall,
                          FusedCall>;

/// The name of a call's operator: gemm, attention, grouped_gemm, conv, or the row
/// operator's or collective's own.
std::string_view name(const Call& call);

/// "gemm m=32 n=6144 k=4096 dtype=bf16", as the command line takes it.
std::string to_text(const Call& call);

/// A call's sizes by name, those that have to be at least 1 first.
using NamedSizes = std::vector<std::pair<std::string_view, int64_t>>;
NamedSizes positive_sizes(const Call& call);

}  // namespace orrery::library
