// Counters: a simulated launch in the words of Nsight Compute.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/device/simulator.h"

namespace orrery::device {

/// A metric of Nsight Compute, and its value here; sums over the whole chip.
struct Counter {
  std::string name;
  double value = 0;
  std::string unit;
};

/// Those that the simulation knows, in the order of their names. Sectors are those of the machine's
/// L2; percentages are of the clocks that the kernel took, `launch__` values the profile's.
std::vector<Counter> counters(const Simulation& simulation,
                              const kernel::Profile& profile,
                              const machine::Chip& chip);

}  // namespace orrery::device
