// Calls of a layer of experts: what one GPU computes, and the exchange of tokens around it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"
#include "orrery/passes/named_call.h"

namespace orrery::passes {

struct ExpertCalls {
  std::vector<NamedCall> calls;
  std::vector<std::string> notes;
};

/// The layer as the GPU with most rows runs it (expert_rows.h): the rows of its own experts, of
/// which there are as many as its weights. Where several groups of GPUs have tokens of their own,
/// these are dispatched to the experts and their results combined. Quantised experts run the
/// kernels that serving engines have for the chip. Error InvalidInput: an imbalance that cannot be.
Result<ExpertCalls> expert_calls(const graph::Graph& graph,
                                 const graph::Op& op,
                                 const Context& context);

}  // namespace orrery::passes
