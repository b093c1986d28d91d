// Likeness: how the numbers of one machine stand in for those that the file of another leaves out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "orrery/machine/number_file.h"

namespace orrery::machine {

// A new chip is its datasheet and a relative that was measured:
//
//     like = "h200-sxm"
//     dram.bandwidth = { value = 8000, unit = "GB/s", source = "datasheet", ... }
//
// dram.read, say, then is the relative's share of its dram.bandwidth. Each derived number is listed
// with the source `derived` and how it came about.

/// How numbers carry over: those of `prefix` (a key, or all keys under it) grow as `with` does.
struct CarryOver {
  std::string_view prefix;
  std::string_view with;  // a key that both files have; empty: the number stays as it is
};

/// The rules; the first that matches counts. Cycles, times, shares and exponents stay as they are:
/// they are properties of a design rather than of its size.
std::span<const CarryOver> carry_over_rules();

// Matrix rates of element types that a file leaves out keep the relative's ratio to bf16 (or to the
// first type that both state); a file that states none derives none. A rate of 0 says that the chip
// does not multiply the type at all.

/// Numbers that a machine has to state itself: they are what tells it from its relative.
std::span<const std::string_view> own_numbers();

/// Adds to `file` every number of `relative` that it lacks, carried over, except own_numbers().
/// `name` is what the relative is called in the notes. A number that would grow with a key which
/// `file` lacks stays as it is: that key is one of own_numbers() and will be reported as missing.
void derive_missing(NumberFile& file, const NumberFile& relative, std::string_view name);

}  // namespace orrery::machine
