// strip: leaves parts of a model out, as measurements of parts of models do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"

namespace orrery::passes {

struct StripOptions {
  bool outside = false;       // what stands outside of the repeated layers: embedding, logits
  bool rotary = false;        // positions
  bool cache_writes = false;  // attention reads a cache as it is
};

/// The graph without the operators that `options` names; what read their results reads what they
/// read.
Result<graph::Graph> strip(const graph::Graph& graph, const StripOptions& options);

}  // namespace orrery::passes
