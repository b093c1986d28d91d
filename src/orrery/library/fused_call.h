// Fused calls: several operators of a graph as one generated kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orrery/base/dtype.h"

namespace orrery::library {

// A compiler turns a chain of pointwise operators, with at most the reductions of one row in
// between, into one kernel: every value that only the chain needs stays in registers. What is left
// is what the kernel reads and writes:
//
//     x = h + attention_output; y = rms_norm(x)        ops add, rms_norm; rows x cols, 1 reduction
//     reads  h, attention_output, weight               writes  x, y

/// A tensor that a fused kernel reads or writes, each element once.
struct FusedOperand {
  int64_t elements = 0;
  DType dtype = DType::BF16;
  bool resident = false;  // weights, tables and caches: not written just before
  bool operator==(const FusedOperand&) const = default;
};

struct FusedCall {
  std::vector<std::string> ops;  // by name, in order
  int64_t rows = 0;              // of the iteration; reductions run along the columns
  int64_t cols = 0;
  int64_t reductions = 0;  // that follow one another in a row; 0: pointwise
  std::vector<FusedOperand> reads = {};
  std::vector<FusedOperand> writes = {};
  /// Part of a neighbouring product's or attention's kernel: no launch of its own, only what it
  /// moves beyond that.
  bool absorbed = false;
  bool operator==(const FusedCall&) const = default;
};

}  // namespace orrery::library
