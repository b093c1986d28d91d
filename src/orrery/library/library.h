// Libraries: profiles of kernels we do not own, and each library's rules for choosing among them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"
#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"

namespace orrery::library {

// A *call* is an operator with its sizes, as a framework hands it to a library: no layout of ours,
// no kernel yet. The library answers with *candidates*: one profile where its rule is known from
// source or from launch geometry (FlashAttention's splits, PyTorch's reductions), several where it
// decides by heuristics of its own that we do not have (which nvjet tile cuBLAS takes); the
// estimator then takes the fastest and corrects for the bias of a minimum.

/// C[m, n] = A[m, k] B[n, k]^T per batch, plus nothing (a linear layer without bias).
struct GemmCall {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  DType input = DType::BF16;
  DType output = DType::BF16;
  bool operator==(const GemmCall&) const = default;
};

/// Scaled dot-product attention. backend: "cudnn", "flash" or "" (the framework's default).
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
  bool operator==(const AttentionCall&) const = default;
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

using Call = std::variant<GemmCall, AttentionCall, RowsCall>;

/// The name of a call's operator: gemm, attention, or the row operator's own.
std::string_view name(const Call& call);

/// A library file, read (libraries/*.toml): tile sets, rules, instruction counts, fixed costs.
class Library {
 public:
  static Result<Library> parse(std::string_view toml, std::string_view origin);

  std::string_view id() const;       // "cuda-13"
  std::string_view version() const;  // "cuBLAS 13.0, cuDNN 9.19, PyTorch 2.11"

  /// The kernels that may serve `call`: each candidate is the sequence of kernels that one choice
  /// launches (a split-K GEMM and its reduction are two). Error Unsupported if the library has no
  /// rule for it, saying what is missing.
  Result<std::vector<std::vector<kernel::Profile>>> candidates(const Call& call,
                                                               const machine::Chip& chip) const;

  /// Fitted numbers in the file, by name (a tool counts them; at most 60).
  std::vector<machine::Number> numbers() const;

  struct Tables;  // library_internal.h

 private:
  explicit Library(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}

  std::shared_ptr<const Tables> tables_;  // immutable, shared by copies (docs/design)
};

}  // namespace orrery::library
