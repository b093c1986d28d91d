// Host tensors as bytes in memory, and back: what a compiled kernel reads and writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"

namespace orrery::interpret {

/// Little-endian elements, one after the other; values are rounded to the type first. Error
/// Unsupported: a type of less than a byte.
Result<std::vector<std::byte>> encode(DType type, std::span<const float> values);

/// The values of such bytes; trailing bytes of an incomplete element are an error.
Result<std::vector<float>> decode(DType type, std::span<const std::byte> bytes);

}  // namespace orrery::interpret
