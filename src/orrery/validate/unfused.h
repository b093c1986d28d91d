// Operators of transformers that have no kernel of their own, as the kernels that run instead.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/plan/plan.h"

namespace orrery::validate {

/// Every attention of `plan` becomes what attn_implementation "eager" launches: queries, keys and
/// values made contiguous, a batched product, a scale, a mask, a softmax, a product with the values
/// and their heads put side by side. All scores are written and read, whatever is masked. A
/// compiler takes scale and mask into the softmax and reads strided heads.
void unfuse_attention(plan::Plan& plan);

/// Every gelu by tanh becomes the eight pointwise kernels of NewGELUActivation (`gelu_new`).
void unfuse_gelu(plan::Plan& plan);

}  // namespace orrery::validate
