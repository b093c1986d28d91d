// Step: the sizes of a requested step, before and after its model is known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/frontend/model_graph.h"
#include "orrery/frontend/parallel.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"
#include "orrery/plan/memory.h"
#include "orrery/session/session.h"

namespace orrery::session {

struct Step {
  frontend::Phase phase = frontend::Phase::Decode;
  std::vector<passes::Request> requests;  // of a mixed step
  std::vector<plan::Binding> sizes;       // of the graph
  std::vector<plan::Binding> shown;       // of the report
  int64_t batch = 1;                      // sequences of one group of GPUs
  double tokens = 0;                      // that the step makes, or reads; of all groups
  int64_t context = 0;                    // tokens of the longest sequence
  std::vector<std::string> notes = {};
};

/// How the GPUs share the model of `request`.
inline frontend::Parallel parallel_of(const ModelRequest& request) {
  return {.tp = request.tp, .ep = request.ep};
}

/// Errors (InvalidInput): sizes out of range or of another phase; a mixed step without requests, or
/// on several groups of GPUs.
Result<Step> step_of(const ModelRequest& request);

/// Of a step that is not mixed: what of the sizes its graph has.
void keep_sizes(const graph::Graph& graph, const ModelRequest& request, Step& step);

}  // namespace orrery::session
