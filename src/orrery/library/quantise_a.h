// Kernels that quantise the bf16 activations of a product before it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

// A call with `quantise` runs two kernels or more: A is read as bf16 and written as fp8 or fp4 with
// its scales, then multiplied. One scale for the whole tensor, if it is not known, takes a pass
// over A to find it and small nodes between.

/// Section "quantise_a": the kernels before the product of such a call, without the product.
std::unique_ptr<Family> read_quantise_a(machine::NumberFile& file);

}  // namespace orrery::library
