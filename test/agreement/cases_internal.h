// Filling tensors and numbering sizes for the cases.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases.h"

namespace orrery::agreement {

// Spacing of bf16 relative to a number is at most 2^-7, so rounding moves it by 2^-8 of itself at
// most.
inline constexpr double kBf16 = 0x1p-8;
// One binary32 operation: 2^-24 of its result.
inline constexpr double kF32 = 0x1p-24;

int64_t pick(std::mt19937& random, std::vector<int64_t> choices);
int64_t between(std::mt19937& random, int64_t low, int64_t high);

/// Adds the program's tensors that are not there yet; read ones get values of [-scale, scale],
/// rounded to their type.
void add_tensors(Case& c, const kernel::Program& program, std::mt19937& random, float scale);

/// Takes the promise of multiples away from every axis.
kernel::Program unaligned(kernel::Program program);

kernel::Extents extents_of(std::vector<std::pair<std::string, int64_t>> values);

}  // namespace orrery::agreement
