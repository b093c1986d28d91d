// Layouts: where the elements of a tile lie, in the registers of threads or in shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "orrery/base/id.h"

namespace orrery::kernel {

struct AxisTag;
/// An axis of a program (see program.h).
using AxisId = Id<AxisTag>;

// A *fragment* is a tile spread over the registers of many threads. Which thread holds which
// element? Write the holder's three coordinates (register, lane, warp) as mixed-radix numbers. Each
// **digit** moves the element by `stride` along one axis of the tile, or along none (then the
// element is held more than once: the digit *replicates*).
//
// Worked example: the 64 x N accumulator [m, n] of a Hopper wgmma (PTX ISA, "wgmma.mma_async, D
// fragment"), N = 128, held by 4 warps of 32 lanes with 64 registers each:
//
//     register  2:n*1  2:m*8  16:n*8       register 5 = 1 + 2*0 + 4*1  ->  n += 1,  n += 8
//     lane      4:n*2  8:m*1               lane 6     = 2 + 4*1        ->  n += 4,  m += 1
//     warp      4:m*16                     warp 3                      ->  m += 48
//
// so register 5 of lane 6 of warp 3 holds element (49, 13). The lowest digit of a place comes
// first. Every layout of the field is such a list: a row spread in 16-byte vectors over a block
// (register 8:col*1, lane 32:col*8, warp 4:col*256), the operands of AMD's MFMA, the result of a
// reduction (the digits of the reduced axis become replicas).
//
// Invariants (checked by the verifier, not by the type): the digits that move along an axis, put in
// order of stride, form a mixed-radix number system of the axis' tile (1, e1, e1*e2, ...), so every
// element is held, and held once per combination of replicating digits.
//
// Why digits and not bits (Triton's linear layouts): tiles of 96, 176 or 320 are worth having, and
// powers of two cannot say them. Why not nested shape:stride pairs (CuTe): digits print on one line
// and compare by ==.

/// Which coordinate of the holder a digit belongs to.
enum class Place { Register, Lane, Warp };

/// One digit: `extent` values, each step moves `stride` elements along `axis` (no axis: a replica).
struct Digit {
  Place place = Place::Register;
  int64_t extent = 1;
  std::optional<AxisId> axis;
  int64_t stride = 0;

  bool operator==(const Digit&) const = default;
};

/// A holder of an element.
struct Holder {
  int64_t reg = 0;
  int64_t lane = 0;
  int64_t warp = 0;

  auto operator<=>(const Holder&) const = default;
};

/// The layout of a fragment: its digits, those of one place in ascending order.
struct FragmentLayout {
  std::vector<Digit> digits;

  bool operator==(const FragmentLayout&) const = default;

  /// Number of values of `place`: the product of its digits' extents (1 without digits).
  int64_t count(Place place) const;

  /// How far holder `h` lies along `axis`, in elements from the tile's corner.
  int64_t offset(AxisId axis, Holder h) const;

  /// The tile's extent along `axis` that the digits span.
  int64_t span(AxisId axis) const;
};

/// The layout of a reduction over `axis`: register digits of the axis vanish, lane and warp digits
/// replicate.
FragmentLayout without_axis(const FragmentLayout& layout, AxisId axis);

/// Do both layouts put the same elements into the same holders? Digits may be split differently:
/// `2:n*1 4:n*2` is `8:n*1`, `4:_ 8:_` is `32:_`.
bool same_holders(const FragmentLayout& x, const FragmentLayout& y);

/// Is `narrow`, up to such splitting, the layout that remains of `wide` when every axis but `axes`
/// is taken away with without_axis? So an operand [m] meets a result [m, n] in the registers where
/// it is needed.
bool is_projection(const FragmentLayout& narrow,
                   const FragmentLayout& wide,
                   const std::vector<AxisId>& axes);

/// Do the digits along each of `axes` (tile extents beside them) form a number system, i.e. is
/// every element held exactly once per replica? False also if a digit names an axis not in the
/// list.
struct AxisSpan {
  AxisId axis;
  int64_t extent = 1;
};

bool covers(const FragmentLayout& layout, const std::vector<AxisSpan>& axes);

// A *shared layout* is row-major over the buffer's axes, the last axis innermost, with three
// refinements:
//   panel     the last axis is cut into panels of so many elements, lying one after the other (0:
//   not cut);
//             a tensor copy writes one panel of at most 128 bytes a row.
//   swizzle   within a panel row, 16-byte chunk c of row r lies at chunk c ^ (r mod (swizzle /
//   16)),
//             swizzle in bytes: 0, 32, 64 or 128 (PTX ISA, "tensor swizzling modes").
//   pad       so many unused elements follow each row (against bank conflicts where swizzles do not
//   exist).
// `resident` is for staging buffers: only so many panels exist at a time, the tile passes through
// them (0: all).
struct SharedLayout {
  int64_t panel = 0;
  int64_t swizzle = 0;
  int64_t pad = 0;
  int64_t resident = 0;

  bool operator==(const SharedLayout&) const = default;
};

}  // namespace orrery::kernel
