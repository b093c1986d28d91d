// Memory: L2 residency, DRAM time, L2 time.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/memory.h"

#include <algorithm>
#include <cmath>

namespace orrery::cost {

double dram_seconds(const machine::Dram& dram, double read, double write) {
  const double all = read + write;
  if (!(all > 0)) {
    return 0;
  }
  return read / dram.read.value() + write / dram.write.value() * (1 - dram.mix * read / all);
}

MemoryTime memory_time(const kernel::Profile& profile,
                       const machine::Chip& chip,
                       const plan::Conditions& conditions) {
  const auto& traffic = profile.traffic;
  const double scratch = traffic.scratch_read.value();
  const double outside = std::max(0.0, traffic.unique_read.value() - scratch);
  const double recent = std::min(outside, traffic.recent_read.value());
  const double other = outside - recent;
  const double written = traffic.unique_write.value();
  const bool warm_activations = conditions.activations == plan::CacheState::Warm;
  const bool warm_weights = conditions.weights == plan::CacheState::Warm;
  const auto input_sets = static_cast<double>(std::max<int64_t>(1, conditions.input_sets));
  const auto output_sets = static_cast<double>(std::max<int64_t>(1, conditions.output_sets));

  // A cold operand streams through, and what is used once does not keep the rest out for long: only
  // warm bytes count. A result is written back even if it is soon overwritten in L2 (relu of 1000 x
  // 4096 into one buffer takes nearly as long as into many), unless all copies of everything fit.
  const double warm_recent = warm_activations ? recent : 0;
  const double warm = warm_recent + (warm_weights ? other : 0);
  const double kept = warm_activations ? written : 0;
  const double recent_sets =
      conditions.activation_sets > 0 ? static_cast<double>(conditions.activation_sets) : input_sets;
  const double touched = input_sets * (warm - warm_recent) + recent_sets * warm_recent;
  const double read_share =
      machine::resident_share(touched + output_sets * kept + scratch, chip.l2);
  const double write_share = machine::resident_share(touched + recent_sets * kept, chip.l2);
  const double scratch_share =
      scratch > 0 ? machine::resident_share(scratch + written + (recent + other) / 2, chip.l2) : 0;
  const double from_l2 = read_share * warm + scratch_share * scratch;
  const double rewritten = output_sets < input_sets
                               ? chip.l2.rewritten * machine::resident_share(warm + kept, chip.l2)
                               : 0;
  const double read = std::max(0.0, traffic.dram_read.value() - from_l2);
  const double write =
      traffic.dram_write.value() * (warm_activations ? (1 - write_share) * (1 - rewritten) : 1);

  MemoryTime time;
  const double dram_share = profile.behaviour.dram_share > 0 ? profile.behaviour.dram_share : 1;
  time.dram = dram_seconds(chip.dram, read, write) / dram_share;
  time.dram_bytes = read + write;
  const double unique = traffic.unique_read.value();
  const double moved = traffic.unique_read.value() + written;
  time.read_share = time.dram > 0 ? read / chip.dram.read.value() / dram_share / time.dram
                    : moved > 0   ? traffic.unique_read.value() / moved
                                  : 1;
  time.l2_once = from_l2 + std::max(0.0, written - write);
  time.cold_share = unique > 0 ? std::min(1.0, std::max(0.0, unique - from_l2) / unique) : 0;
  return time;
}

double l2_cycles(const kernel::Traffic& traffic, const machine::Chip& chip) {
  return (traffic.l2_read.value() + traffic.l2_write.value()) / chip.l2.bandwidth.value();
}

}  // namespace orrery::cost
