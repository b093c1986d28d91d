// Arithmetic that rules share: rounding, products of sizes, occupancy, reading of constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

/// CTAs resident on an SM, by threads, registers (per thread) and shared memory (bytes per CTA); at
/// least 1.
int64_t occupancy(const machine::Core& core, int64_t threads, int64_t registers, double shared);

/// ceil(a / b) for a >= 0, b > 0, without overflow.
inline int64_t ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// The product as a double: sizes up to 2^40 each overflow 64 bits.
template <class... T>
double product(T... factors) {
  return (1.0 * ... * static_cast<double>(factors));
}

/// A count as an integer, saturating where it no longer is one.
inline int64_t whole(double value) {
  return static_cast<int64_t>(std::min(9e15, value));
}

/// Every byte once, as recent as the kernel before: what a kernel does that walks its operands.
kernel::Traffic streamed(double read, double write);

/// Sets units and CTAs to the sum of `kinds`.
void set_units(kernel::Profile& profile, std::vector<kernel::UnitKind> kinds);

// A library file's numbers by key: a factor, clocks, a time. All may be 0.
double one(machine::NumberFile& file, std::string_view key);
double cycles(machine::NumberFile& file, std::string_view key);
Duration duration(machine::NumberFile& file, std::string_view key);
/// Half an 80 % interval, relative, from cases that were left out of the fit: `section`.error.
double error_of(machine::NumberFile& file, std::string_view section);

}  // namespace orrery::library
