// When a graph is well formed: the executable specification of graph.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"

namespace orrery::graph {

/// Checks that
///   - names of values are identifiers, and unique; extents too; extents are at least 1;
///   - every operator reads values assigned before it, and has the attributes and result type that
///   infer.h gives;
///   - a value of a repeat is used only inside it, but for what `next` names;
///   - repeats have a count of at least 1, do not overlap, and carry values of one type;
///   - there is an output, and each is assigned.
/// The error (InvalidInput) lists everything that is wrong.
Result<void> verify(const GraphData& data);

}  // namespace orrery::graph
