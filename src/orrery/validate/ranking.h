// Rankings: whether the fastest of many ways to do the same is predicted to be the fastest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orrery/validate/score.h"

namespace orrery::validate {

/// One choice among rows. `first` is the least measured time over that of the row that is predicted
/// to be fastest, `of_five` over the least of the five that are predicted to be fastest: 1 is best.
struct Ranking {
  std::string family;
  std::string choice;
  int64_t rows = 0;
  double correlation = 0;  // Spearman's, of predicted and measured times
  double first = 1;
  double of_five = 1;
};

/// Of a family's choices, or of all.
struct RankingSum {
  std::string family;
  int64_t choices = 0;
  double correlation = 0;  // mean
  double first = 1;        // geometric mean
  double worst_first = 1;
  double of_five = 1;
  double worst_of_five = 1;
};

/// Of each family and choice with at least two rows, in the order of first appearance.
std::vector<Ranking> rankings(const std::vector<Compared>& rows);
/// Per family in that order, and over all as "all" if there are several.
std::vector<RankingSum> sum_up(const std::vector<Ranking>& rankings);

}  // namespace orrery::validate
