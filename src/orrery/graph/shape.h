// Extents and types of tensors; an extent is a number or a name that is bound later.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/id.h"

namespace orrery::graph {

// A graph of a language model does not know how many sequences it will serve, so extents may be
// named: [batch, seq, 4096]. A name is declared once per graph and bound to a number when the graph
// is lowered; two extents are equal when they are the same number or the same name.

struct DimTag;
using DimId = Id<DimTag>;

/// One extent: a name of the graph, or a number.
struct Dim {
  DimId symbol;       // none: the number counts
  int64_t fixed = 0;  // 0 where named

  constexpr Dim() = default;

  constexpr explicit Dim(int64_t number) : fixed(number) {}

  constexpr explicit Dim(DimId name) : symbol(name) {}

  constexpr bool named() const { return symbol.valid(); }

  bool operator==(const Dim&) const = default;
};

using Shape = std::vector<Dim>;

/// What a tensor is, without its values.
struct TensorType {
  DType dtype = DType::BF16;
  Shape shape;

  bool operator==(const TensorType&) const = default;
};

}  // namespace orrery::graph
