// Combines half intervals.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/plan/interval.h"

#include <cmath>

namespace orrery::plan {

Seconds combined_half(const std::vector<Seconds>& halves, double correlation) {
  double squares = 0;
  double total = 0;
  for (const Seconds half : halves) {
    squares += half.value() * half.value();
    total += half.value();
  }
  return Seconds(std::sqrt((1 - correlation) * squares + correlation * total * total));
}

}  // namespace orrery::plan
