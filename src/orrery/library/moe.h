// Layers of experts, as the calls that a framework makes of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "orrery/library/call.h"

namespace orrery::library {

/// Router softmax and top-k over tokens x experts, gather of tokens x topk rows, grouped gate and
/// up projection, activation (and product, if gated), grouped down projection, weighting, and the
/// sum into the tokens: one kernel sequence after the other, as PyTorch's own operators run it.
std::vector<Call> moe_calls(const MoeCall& call);

}  // namespace orrery::library
