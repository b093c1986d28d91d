// Rooflines.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/limits.h"

#include <algorithm>
#include <map>

namespace orrery::report {

Limits limits_of(const machine::Chip& chip) {
  const double cores = static_cast<double>(chip.core.count);
  Limits limits;
  limits.dram = chip.dram.bandwidth;
  limits.link = chip.link.bandwidth;
  limits.vector = FlopsPerSecond(2 * chip.core.fma_lanes * cores * chip.clock.max.value());
  for (const auto& [type, rate] : chip.core.tensor) {
    limits.tensor.emplace_back(type, cores * rate * chip.clock.max);
  }
  return limits;
}

Work work_of(const kernel::Profile& profile) {
  Work work;
  std::map<DType, Flops> tensor;
  for (const kernel::UnitKind& kind : profile.kinds) {
    for (const kernel::ProfilePhase& phase : kind.phases) {
      const double trips = kind.count * phase.trips;
      tensor[phase.work.tensor_type] += trips * phase.work.tensor;
      work.vector += Flops(trips * 2 * phase.work.fma);
    }
  }
  Flops most;
  for (const auto& [type, flops] : tensor) {
    work.tensor += flops;
    if (flops > most) {
      most = flops;
      work.type = type;
    }
  }
  const Bytes recent = std::min(profile.traffic.unique_read,
                                profile.traffic.recent_read + profile.traffic.scratch_read);
  work.dram = profile.traffic.unique_read - recent + profile.traffic.unique_write;
  work.link = profile.link.sent;
  return work;
}

Duration least_time(const Work& work, const Limits& limits) {
  double seconds = (work.dram / limits.dram).value();
  const auto rate = std::find_if(limits.tensor.begin(), limits.tensor.end(), [&](const auto& each) {
    return each.first == work.type;
  });
  if (work.tensor.value() > 0 && rate != limits.tensor.end() && rate->second.value() > 0) {
    seconds = std::max(seconds, (work.tensor / rate->second).value());
  }
  if (work.vector.value() > 0 && limits.vector.value() > 0) {
    seconds = std::max(seconds, (work.vector / limits.vector).value());
  }
  if (work.link.value() > 0 && limits.link.value() > 0) {
    seconds = std::max(seconds, (work.link / limits.link).value());
  }
  return Duration::from(Seconds(seconds));
}

Duration least_time(const std::vector<kernel::Profile>& kernels, const Limits& limits) {
  Duration sum = Duration::zero();
  for (const kernel::Profile& kernel : kernels) {
    sum += least_time(work_of(kernel), limits);
  }
  return sum;
}

}  // namespace orrery::report
