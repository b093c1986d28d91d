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
  const double ratio = larger > 0 ? std::min(x, y) / larger : 0.0;
  const double power = p * std::log(ratio);
  // Below e^-30 the smaller one changes nothing; this also spares ratio = 0 its logarithm.
  if (!(power > -30)) {
    return larger;
  }
  return larger * std::exp(std::log1p(std::exp(power)) / p);
}

}  // namespace orrery::cost
