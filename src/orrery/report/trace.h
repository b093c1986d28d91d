// Traces of simulated launches, in the Trace Event format that Perfetto and chrome://tracing open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/device/recording.h"
#include "orrery/device/simulator.h"
#include "orrery/machine/machine.h"

namespace orrery::report {

/// A simulated kernel with its recording.
struct SimulatedKernel {
  kernel::Profile profile;
  device::Simulation simulation;
  device::Recording recording;
};

/// One process a core with one thread a resident group of warps, a slice a phase of a unit; counter
/// tracks for the chip. Kernels follow each other in time. Microseconds.
std::string to_trace(const std::vector<SimulatedKernel>& kernels, const machine::Chip& chip);

}  // namespace orrery::report
