// Activations spelled out in primitive operations: the one definition that all readings share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/kernel/expression.h"

namespace orrery::kernel {

// An activation is a name for a formula. The interpreter and every emitter see the formula only, so
// that they round alike, and whoever counts operations counts those:
//
//     rsqrt(x)      1 / sqrt(x)
//     sigmoid(x)    1 / (1 + exp(-x))
//     relu(x)       max(x, 0)
//     silu(x)       x * sigmoid(x)
//     gelu(x)       0.5 * x * (1 + erf(x * sqrt(1/2)))
//     gelu_tanh(x)  0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3)))
//
// Rsqrt stays as it is: GPUs have an instruction for it, the others compute 1 / sqrt(x).

/// The same expression without Sigmoid, Relu, Silu, Gelu and GeluTanh. Shared operands stay shared.
Expr expand_activations(const Expr& expression);

}  // namespace orrery::kernel
