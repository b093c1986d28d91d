// Strides: how the framework lays out values in memory, which decides what kernel it launches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace orrery::passes {

// An eager framework does not copy for a slice or a transpose: it changes sizes and strides. A
// pointwise kernel over such views takes a slower path (index arithmetic per element, no vectors),
// and some operators copy first. With batch 1 and one token many views are dense by accident, so
// the same model launches other kernels. These are the rules of PyTorch 2.11, from source:
//   pointwise_layout   aten/src/ATen/TensorIterator.cpp: reorder_dimensions, coalesce_dimensions,
//                      allocate_or_resize_outputs, is_contiguous
//   reshaped           aten/src/ATen/TensorUtils.cpp: computeStride
//
//     q of a fused projection, [2 batch, 4 heads, 8 tokens, 16], strides [512, 16, 64, 1]:
//     q * cos is allocated with the strides' order, [512, 16, 64, 1] again, by the slower kernel.

/// Sizes and strides in elements, outermost axis first.
struct Strided {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;

  bool operator==(const Strided&) const = default;

  int64_t elements() const;
  /// Row-major without gaps; axes of size 1 do not matter.
  bool dense() const;
};

/// Row-major, without gaps.
Strided dense(std::vector<int64_t> sizes);

Strided sliced(const Strided& from, size_t axis, int64_t size);
/// Axes of size 1 repeated to `sizes`, without moving data.
Strided expanded(const Strided& from, const std::vector<int64_t>& sizes);
Strided permuted(const Strided& from, std::span<const int64_t> order);
/// The same memory under other sizes, or nothing if that needs a copy.
std::optional<Strided> reshaped(const Strided& from, const std::vector<int64_t>& sizes);

/// The result of a pointwise operator, and whether its kernel may use vectors.
struct Pointwise {
  Strided result;
  bool vectorized = false;
};

/// Operands broadcast from the right. All operands are read, one dense-ordered result is written.
Pointwise pointwise_layout(std::span<const Strided> operands);

/// May a copy from `from` into `to` (equal sizes) use vectors?
bool copies_vectorized(const Strided& from, const Strided& to);

/// A new value with the sizes of `like`, without gaps, its axes in the order of like's strides.
Strided in_order_of(const Strided& like);

}  // namespace orrery::passes
