// Occupancy: see occupancy.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/occupancy.h"

#include <limits>

#include "orrery/base/check.h"

namespace orrery::kernel {

std::string_view name(OccupancyLimit limit) {
  switch (limit) {
    case OccupancyLimit::Registers:
      return "registers";
    case OccupancyLimit::Shared:
      return "shared memory";
    case OccupancyLimit::Threads:
      return "threads";
    case OccupancyLimit::Ctas:
      return "CTAs";
  }
  ORR_UNREACHABLE();
}

Occupancy occupancy(const CtaResources& cta, const machine::Core& core) {
  Occupancy best{.ctas = std::numeric_limits<int64_t>::max(), .limit = OccupancyLimit::Ctas};
  const auto consider = [&](OccupancyLimit limit, int64_t ctas) {
    if (ctas < best.ctas) {
      best = {.ctas = ctas, .limit = limit};
    }
  };
  if (cta.registers > 0) {
    consider(OccupancyLimit::Registers, core.registers / cta.registers);
  }
  if (cta.shared.value() > 0) {
    const Bytes taken = cta.shared + core.shared_reserved;
    const bool fits = cta.shared <= core.shared_per_cta;
    consider(OccupancyLimit::Shared, fits ? static_cast<int64_t>(core.shared_capacity / taken) : 0);
  }
  if (cta.threads > 0) {
    consider(OccupancyLimit::Threads, core.max_threads / cta.threads);
  }
  consider(OccupancyLimit::Ctas, core.max_ctas);
  return best;
}

}  // namespace orrery::kernel
