// Element types of tensors: name, width, and what arithmetic they stand for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "orrery/base/quantity.h"
#include "orrery/base/result.h"

namespace orrery {

/// An element type. The names are the ones of the command line and of every text form:
/// f32 tf32 f16 bf16 f8e4m3 f8e5m2 f4e2m1 i64 i32 i8 i4 bool.
/// TF32 is stored in 4 bytes and multiplied with a 10-bit mantissa.
enum class DType { F32, TF32, F16, BF16, F8E4M3, F8E5M2, F4E2M1, I64, I32, I8, I4, Bool };

/// Bytes of one element (half a byte for f4e2m1 and i4).
Bytes element_size(DType type);

/// The name in text forms, e.g. "bf16".
std::string_view name(DType type);

/// The type called `text`; also takes the spellings of the field (fp16, bfloat16, float32, fp8
/// ...).
Result<DType> parse_dtype(std::string_view text);

}  // namespace orrery
