// Scans over chunks with a scalar decay (Mamba-2, lightning attention), and Mamba-1's scan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "orrery/kernel/profile.h"
#include "orrery/library/mixer_calls.h"
#include "orrery/library/triton_kernel.h"

namespace orrery::library {

/// Prefill of Mamba2: the five kernels of mamba_ssm's mamba_chunk_scan_combined.
std::vector<kernel::Profile> mamba2_scan(const StateMixCall& call,
                                         const TritonTable& table,
                                         const machine::Chip& chip);

/// Prefill of Lightning: the four kernels of vLLM's lightning_attention.
std::vector<kernel::Profile> lightning_scan(const StateMixCall& call,
                                            const TritonTable& table,
                                            const machine::Chip& chip);

/// Prefill of Mamba1: mamba_ssm's selective_scan_fwd_kernel, one block a channel.
std::vector<kernel::Profile> selective_scan(const StateMixCall& call,
                                            const TritonTable& table,
                                            const machine::Chip& chip);

}  // namespace orrery::library
