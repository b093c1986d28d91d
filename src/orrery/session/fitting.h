// fitting: whether a step fits into a machine's memory, and what would.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "orrery/base/result.h"
#include "orrery/frontend/model.h"
#include "orrery/graph/graph.h"
#include "orrery/machine/machine.h"
#include "orrery/plan/memory.h"
#include "orrery/report/prediction.h"
#include "orrery/session/step.h"

namespace orrery::session {

/// What is to fit, and where. `whole` is the model before it is shared, `graph` one GPU's;
/// `graph_of` gives that of other numbers of GPUs, or an error where so many cannot share it.
struct Fitting {
  const frontend::Model& whole;
  std::function<Result<const graph::Graph*>(int64_t tp)> graph_of;
  const graph::Graph& graph;
  const Step& step;
  const machine::Chip& chip;
  Bytes towers;  // that are loaded beside the graph's weights
};

/// Whether a step that takes `memory` fits into the usable part of the machine's; if not, the
/// largest batch, the number of GPUs and the cache with which it would.
Result<report::Fit> fit_of(const Fitting& fitting,
                           const plan::Memory& memory,
                           const ModelRequest& request);

}  // namespace orrery::session
