// Overlap: how long two kinds of work take together when they overlap only partly.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace orrery::cost {

/// (x^p + y^p)^(1/p): with p = 1 the sum (one after the other), with large p the larger (side by
/// side). x, y >= 0 in one unit, p >= 1. Finite for every finite x, y: it is computed as larger *
/// (1 + (smaller / larger)^p)^(1/p).
inline double overlapped(double x, double y, double p) {
  const double larger = std::max(x, y);
  const double smaller = std::min(x, y);
  if (!(smaller > 0)) {
    return larger;
  }
  const double power = p * std::log(smaller / larger);
  if (!(power > -10)) {
    return larger;  // it would change the fifth digit
  }
  const double extra = std::exp(power);
  if (extra < 0.02) {
    return larger * (1 + extra / p * (1 - 0.5 * extra * (1 - 1 / p)));  // series of the line below
  }
  return larger * std::exp(std::log1p(extra) / p);
}

}  // namespace orrery::cost
