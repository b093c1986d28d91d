// Rooflines.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/limits.h"

#include <algorithm>
#include <map>

#include "orrery/library/call_flops.h"

namespace orrery::report {

Limits limits_of(const machine::Chip& chip) {
  const double cores = static_cast<double>(chip.core.count);
  Limits limits;
  limits.dram = chip.dram.bandwidth;
  limits.l2 = chip.l2.bandwidth * chip.clock.max;
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
  work.flops = work.issued();
  const kernel::Traffic& traffic = profile.traffic;
  work.dram = traffic.unique_read + traffic.unique_write;
  work.l2 = std::min(work.dram, traffic.l2_read + traffic.l2_write);
  work.link = profile.link.sent;
  return work;
}

std::vector<Work> works_of(const library::Call& call, const plan::StepTime& step) {
  std::vector<Work> works;
  Flops tensor;
  Flops vector;
  for (size_t i = 0; i < step.kernels->size(); ++i) {
    const plan::Estimate& time = step.each->empty() ? step.once : (*step.each)[i];
    Work& work = works.emplace_back(work_of((*step.kernels)[i]));
    work.dram = std::min(work.dram, time.dram);
    tensor += work.tensor;
    vector += work.vector;
  }
  const auto flops = library::call_flops(call);
  const bool on_tensor = tensor.value() > 0;
  const Flops all = on_tensor ? tensor : vector;  // of the pipes that do the call's arithmetic
  if (!flops || !(all.value() > 0)) {
    return works;
  }
  for (Work& work : works) {
    const Flops own = on_tensor ? work.tensor : work.vector;
    if (own.value() > 0) {
      work.flops = (own / all) * *flops;
    }
  }
  return works;
}

Duration least_time(const Work& work, const Limits& limits) {
  double seconds = (work.dram / limits.dram).value();
  if (work.l2.value() > 0 && limits.l2.value() > 0) {
    seconds = std::max(seconds, (work.l2 / limits.l2).value());
  }
  const auto rate = std::find_if(limits.tensor.begin(), limits.tensor.end(), [&](const auto& each) {
    return each.first == work.type;
  });
  // Padding is not needed; nor is more than the pipes do, where a kernel saves arithmetic.
  if (work.tensor.value() > 0 && rate != limits.tensor.end() && rate->second.value() > 0) {
    seconds = std::max(seconds, (std::min(work.tensor, work.flops) / rate->second).value());
  }
  const Flops vector = work.tensor.value() > 0 ? work.vector : std::min(work.vector, work.flops);
  if (vector.value() > 0 && limits.vector.value() > 0) {
    seconds = std::max(seconds, (vector / limits.vector).value());
  }
  if (work.link.value() > 0 && limits.link.value() > 0) {
    seconds = std::max(seconds, (work.link / limits.link).value());
  }
  return Duration::from(Seconds(seconds));
}

Duration least_time(const library::Call& call, const plan::StepTime& step, const Limits& limits) {
  Duration sum = Duration::zero();
  const std::vector<Work> works = works_of(call, step);
  for (size_t i = 0; i < works.size(); ++i) {
    const plan::Estimate& time = step.each->empty() ? step.once : (*step.each)[i];
    // Reads and writes side by side are faster than the data sheet by some machine files.
    sum += std::min(least_time(works[i], limits), time.time);
  }
  return sum;
}

}  // namespace orrery::report
