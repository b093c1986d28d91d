// override_precision: a model as if it were stored in other types.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "orrery/base/result.h"
#include "orrery/frontend/model.h"

namespace orrery::frontend {

// Names of weights, each with the activations that its products take by themselves:
//
//     bf16 fp16 fp32     plain: nothing is quantised, activations are of the same type
//     fp8                one scale a tensor; fp8
//     fp8_channel        a scale an output; fp8
//     fp8_block          a scale per 128 x 128; fp8
//     int8               a scale an output; int8
//     int4               a scale and a zero per 128 inputs (AWQ, GPTQ); the model's own type
//     mxfp4              a power of two per 32 inputs; the model's own type
//     nvfp4              an e4m3 scale per 16 inputs; fp4
//
// The embedding, the router of experts and the head keep the model's type, as quantised checkpoints
// have it.
struct PrecisionNames {
  std::string weights = {};      // empty: as the file says
  std::string activations = {};  // of quantised products: a float type, fp8, int8 or fp4
  std::string cache = {};        // of keys and values: bf16, fp16, fp32 or fp8

  auto operator<=>(const PrecisionNames&) const = default;
};

/// Errors (InvalidInput): a name that no model could take, with those known.
Result<void> check_names(const PrecisionNames& names);

/// `model` with these precisions. Errors (InvalidInput): an unknown name, with those known;
/// activations for a model without quantised weights; activations wider or of another kind than
/// its own that are no smaller type.
Result<Model> override_precision(Model model, const PrecisionNames& names);

}  // namespace orrery::frontend
