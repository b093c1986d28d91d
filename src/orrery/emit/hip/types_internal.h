// Element types on gfx942: storage, conversion, vectors, and the prelude of every source.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "orrery/base/dtype.h"
#include "orrery/emit/expression.h"

namespace orrery::emit::hip {

/// Types that this emitter handles: f32, f16, bf16.
bool has_device_type(DType type);

/// Bytes of an element.
int64_t bytes_of(DType type);

/// The C++ type of one element in memory and in fragments: float, or a 16-bit pattern.
std::string_view storage(DType type);

/// `width` elements as one type: "u16x8", "f32x4"; of one element its storage.
std::string vector_of(DType type, int64_t width);

/// A float as an element; an element as a float.
std::string stored(DType type, std::string_view text);
std::string loaded(DType type, std::string_view text);

std::string_view prelude();
const Dialect& dialect();

}  // namespace orrery::emit::hip
