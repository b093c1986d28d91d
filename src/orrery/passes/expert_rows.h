// How many tokens each expert gets.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/base/result.h"

namespace orrery::passes {

/// Each of `tokens` tokens picks `topk` of `experts`.
struct Routing {
  int64_t tokens = 0;
  int64_t experts = 1;
  int64_t topk = 1;
};

/// Rows of the experts when all are equally likely: the counts that a draw typically has, largest
/// first. An expert's count is binomial(tokens, topk / experts); the i-th of n gets the quantile (n
/// - i - 1/2) / n of it, and the sum is made tokens x topk. So with few tokens some experts get
/// none, and their weights are not read:
///
///     1 token, top 2 of 8       1 1 0 0 0 0 0 0
///     8 tokens, top 2 of 8      4 3 2 2 2 1 1 1
std::vector<int64_t> expert_rows(const Routing& routing);

/// Rows when the expert of rank r is chosen in proportion to 1 / r^exponent: expected values, at
/// most a row a token, rounded so that their sum is tokens x topk. What is too much for an expert
/// that every token has chosen goes to the others.
std::vector<int64_t> zipf_rows(const Routing& routing, double exponent);

/// Rows when the busiest expert has `imbalance` times as many as the mean, the others as the power
/// law has it that gives this; 1: all alike. Error InvalidInput: below 1, or so much that a token
/// would meet an expert twice.
Result<std::vector<int64_t>> skewed_rows(const Routing& routing, double imbalance);

/// Rows of the experts of one of `ranks` GPUs, for which the others wait. A GPU holds c of n
/// experts without regard to their rows, so its sum has the variance of a draw without replacement,
///
///     c (1 - c / n) variance of the rows,
///
/// and the largest of g such sums lies about as many deviations above their mean as the quantile (g
/// - 1/2) / g of a normal distribution; it is no less than what the GPU with the busiest expert and
/// otherwise mean ones has.
std::vector<int64_t> busiest_rank(const std::vector<int64_t>& rows, int64_t ranks);

}  // namespace orrery::passes
