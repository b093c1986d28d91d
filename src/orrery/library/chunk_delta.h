// Delta rules over chunks: the kernels of flash-linear-attention's chunk_gated_delta_rule.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "orrery/kernel/profile.h"
#include "orrery/library/mixer_calls.h"
#include "orrery/library/triton_kernel.h"

namespace orrery::library {

/// Prefill of GatedDelta and KimiDelta.
std::vector<kernel::Profile> chunk_delta(const StateMixCall& call,
                                         const TritonTable& table,
                                         const machine::Chip& chip);

}  // namespace orrery::library
