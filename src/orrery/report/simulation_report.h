// What a simulation saw, as text and JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/report/prediction.h"
#include "orrery/report/trace.h"

namespace orrery::report {

struct SimulationReport {
  std::string call;
  Setting setting;
  bool warm = false;  // operands
  plan::Estimate total;
  std::vector<SimulatedKernel> kernels;
  machine::Chip chip;
  bool counters = false;  // list them
};

std::string to_text(const SimulationReport& report);
std::string to_json(const SimulationReport& report);

}  // namespace orrery::report
