// Occupancy: how many CTAs an SM holds.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "orrery/library/library_internal.h"

namespace orrery::library {

int64_t occupancy(const machine::Core& core, int64_t threads, int64_t registers, double shared) {
  const int64_t warps = ceil_div(threads, core.warp_size);
  const int64_t rounded =
      ceil_div(registers, core.register_granularity) * core.register_granularity;
  int64_t ctas = std::min(core.max_ctas, core.max_threads / (warps * core.warp_size));
  ctas = std::min(ctas, core.registers / (rounded * warps * core.warp_size));
  const double each = shared + core.shared_reserved.value();
  if (shared > 0) {
    ctas = std::min(ctas, static_cast<int64_t>(core.shared_capacity.value() / each));
  }
  return std::max<int64_t>(1, ctas);
}

}  // namespace orrery::library
