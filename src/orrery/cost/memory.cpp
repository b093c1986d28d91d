// Memory: L2 residency, DRAM time, L2 time.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/memory.h"

#include <algorithm>

#include "orrery/plan/residency.h"

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
  const double written = traffic.unique_write.value();
  const plan::Residency resident = plan::residency(traffic, chip.l2, conditions);
  const double from_l2 = resident.bytes(traffic);
  const double read = std::max(0.0, traffic.dram_read.value() - from_l2);
  const double write = traffic.dram_write.value() * (1 - resident.kept);

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
