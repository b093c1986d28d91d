// fp8_products: a plan whose 16-bit products take 8-bit operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/plan/plan.h"

namespace orrery::passes {

/// Products of 16-bit operands become fp8 ones with one scale a tensor, each after the kernel that
/// quantises its activations; the head (the last product) stays. Weights take half the memory.
void use_fp8_products(plan::Plan& plan);

}  // namespace orrery::passes
