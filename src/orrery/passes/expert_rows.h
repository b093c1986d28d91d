// How many tokens each expert gets.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace orrery::passes {

/// Rows of `experts` experts when each of `tokens` tokens picks `topk` of them, all equally likely:
/// the counts that a draw typically has, largest first. An expert's count is binomial(tokens, topk
/// / experts); the i-th of n gets the quantile (n - i - 1/2) / n of it, and the sum is made tokens
/// x topk. So with few tokens some experts get none, and their weights are not read:
///
///     1 token, top 2 of 8       1 1 0 0 0 0 0 0
///     8 tokens, top 2 of 8      4 3 2 2 2 1 1 1
std::vector<int64_t> expert_rows(int64_t tokens, int64_t experts, int64_t topk);

}  // namespace orrery::passes
