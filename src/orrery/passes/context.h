// What every pass may know besides the graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orrery/graph/graph.h"
#include "orrery/passes/engine.h"
#include "orrery/plan/estimate.h"
#include "orrery/plan/plan.h"

namespace orrery::passes {

/// A sequence of a mixed step: so many new tokens behind so many that its cache holds. A decoding
/// sequence has one.
struct Request {
  int64_t tokens = 1;
  int64_t cached = 0;

  bool operator==(const Request&) const = default;
};

/// Sizes of the named extents, and how the program will run.
struct Context {
  graph::Sizes sizes;
  plan::Runtime runtime = plan::Runtime::Graph;
  plan::ClockState clock = plan::ClockState::Steady;
  std::string architecture = {};  // of the chip: decides which of an engine's kernels run
  Engine engine = Engine::PyTorch;
  std::vector<DType> multiplies = {};  // types that its matrix unit takes; empty: all
  double imbalance = 0;  // rows of the busiest expert over the mean; 0: as uniform routing gives
  std::optional<DType> cache = {};     // of a mixed step's keys and values; none: as computed
  std::vector<Request> requests = {};  // packed into one sequence of all their tokens; empty: as
                                       // many equal sequences as the extents say
};

}  // namespace orrery::passes
