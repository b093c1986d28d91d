// What every pass may know besides the graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/graph/graph.h"
#include "orrery/plan/estimate.h"
#include "orrery/plan/plan.h"

namespace orrery::passes {

/// Sizes of the named extents, and how the program will run.
struct Context {
  graph::Sizes sizes;
  plan::Runtime runtime = plan::Runtime::Graph;
  plan::ClockState clock = plan::ClockState::Steady;
};

}  // namespace orrery::passes
