// How quantised weights are scaled: one name per layout of scales.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "orrery/base/dtype.h"

namespace orrery::graph {

// A weight w[n, k] of a small type stands for w * scale. Who shares a scale:
//
//     tensor    all of it                                  fp8 of ModelOpt
//     channel   a row of k                                 fp8, int8 of compressed-tensors
//     block     128 x 128                                  fp8 of DeepSeek
//     group     `group` neighbours along k, any float      int4 of AWQ, GPTQ, compressed-tensors
//     mx        32 neighbours along k, a power of two      mxfp4 of gpt-oss
//     nv        16 neighbours along k, an e4m3 number      nvfp4

enum class Scheme { None, Tensor, Channel, Block, Group, Mx, Nv };
std::string_view name(Scheme scheme);
std::optional<Scheme> find_scheme(std::string_view name);

/// How a weight is stored and what it is multiplied with.
struct Precision {
  DType weight = DType::BF16;       // as stored
  DType activations = DType::BF16;  // as they enter the product
  Scheme scheme = Scheme::None;
  int64_t group = 0;  // Group only

  bool operator==(const Precision&) const = default;
};

/// Rows and columns of the scales of a weight [n, k].
struct ScaleShape {
  int64_t rows = 1;
  int64_t cols = 1;
};

ScaleShape scale_shape(const Precision& precision, int64_t n, int64_t k);

/// The type of one scale; an int4 group's scale has the type of the activations.
DType scale_type(const Precision& precision);

}  // namespace orrery::graph
