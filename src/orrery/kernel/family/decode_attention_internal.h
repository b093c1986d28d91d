// Shared by the parts of the decode-attention family.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/kernel/family/decode_attention.h"

namespace orrery::kernel {

/// The running maximum before any score, and a masked score: finite, so that differences stay
/// numbers, and far below any score, so that its power of two is 0.
inline constexpr double kDecodeNothing = -1e30;

/// The scale of the scores, with log2(e) folded in.
double base_two_scale(const DecodeConfig& config);

/// Every reason why there is no such kernel, in one error.
Result<void> check_decode(const DecodeConfig& config);

}  // namespace orrery::kernel
