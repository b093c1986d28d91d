// Mixtures: the least value of a parabola.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/machine/mixture.h"

#include <algorithm>
#include <cmath>

namespace orrery::machine {

BytesPerSecond fastest_mixture(const Dram& dram) {
  const double write = dram.write.value();
  const double gap = 1 - write / dram.read.value();  // by which a write costs more than a read
  const double best = dram.mix > 0 ? std::clamp((gap + dram.mix) / (2 * dram.mix), 0.0, 1.0)
                      : gap > 0    ? 1.0
                                   : 0.0;
  return BytesPerSecond(write / (1 - best * (gap + dram.mix) + dram.mix * best * best));
}

double largest_mix(const Dram& dram) {
  // Where (gap + mix)^2 / (4 mix) = 1 - write / bandwidth.
  const double gap = 1 - dram.write.value() / dram.read.value();
  const double half = 2 * (1 - dram.write.value() / dram.bandwidth.value()) - gap;
  return half + std::sqrt(std::max(0.0, half * half - gap * gap));
}

}  // namespace orrery::machine
