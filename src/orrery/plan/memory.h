// Memory of a program on one device: what is resident, what is needed for a step, whether it fits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "orrery/base/quantity.h"
#include "orrery/base/result.h"
#include "orrery/graph/graph.h"

namespace orrery::plan {

// Weights and caches of a repeat exist once per pass; intermediate values live from their operator
// to their last use, and a repeat's are freed before its next pass, so one pass is enough to find
// the largest sum of living values.

struct Memory {
  Bytes weights;
  Bytes cache;        // keys and values
  Bytes activations;  // most that live at once
  Bytes reserve;      // of driver, framework and collectives, beside all tensors

  Bytes total() const { return weights + cache + activations + reserve; }

  bool operator==(const Memory&) const = default;
};

/// The memory of one step of `graph`. Views share the storage of what they view.
Memory memory_of(const graph::Graph& graph, const graph::Sizes& sizes);

using Binding = std::pair<std::string, int64_t>;

/// The largest value of extent `name` with which the step fits into `capacity`; 0 if not even 1
/// does. `bindings` gives the other extents. O(log) evaluations of memory_of.
Result<int64_t> largest_extent(const graph::Graph& graph,
                               std::span<const Binding> bindings,
                               const std::string& name,
                               Bytes capacity);

}  // namespace orrery::plan
