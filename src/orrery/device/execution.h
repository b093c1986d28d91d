// Execution: one launch on the SMs of a chip, event by event.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "orrery/device/memory.h"
#include "orrery/device/recording.h"
#include "orrery/device/steps.h"
#include "orrery/sim/queue.h"
#include "orrery/sim/server.h"

namespace orrery::device {

// A group of warps is an actor with one event to come. It takes a unit, runs its phases trip by
// trip, and takes the next or makes room for another group. A trip needs one event where its loads
// run ahead (ring > 1):
//
//     trip i begins when trip i - 1 has ended and its operands are there:
//       load of trip i + ring - 1 is issued    -> when its operands will be there
//       pipes are reserved for trip i          -> when it will have ended
//       event: trip i + 1 begins at the later of both
//
// and two where it does not: its loads are issued, then they are there. Pipes of an SM, the port,
// L2 and DRAM are servers, so that whoever reserves later waits for whoever came before.

/// Busy clocks of one SM's pipes and port.
struct SmBusy {
  std::array<double, kPipes> pipes = {};
  double port = 0;
};

/// What groups of warps spent their time on, in clocks of all groups: a trip counts for the pipe
/// that ended it, queueing included.
struct Stalls {
  std::array<double, kPipes> pipes = {};
  double chain = 0;     // dependent instructions, barriers
  double operands = 0;  // loads
  double stores = 0;    // the port to L2
};

/// What happened.
struct Run {
  double clocks = 0;         // from the start of the first group to the last byte written
  double groups_clocks = 0;  // until the last group has ended
  std::vector<SmBusy> sms;
  double tensor_energy = 0;  // clocks of the tensor pipes times energy, all SMs
  double l2_busy = 0;
  double dram_busy = 0;
  Stalls stalls;
  double lived = 0;  // clocks that groups were resident, all groups
  Moved moved;
  int64_t groups = 0;  // of warps, launched
  uint64_t events = 0;
};

Run execute(const kernel::Profile& profile,
            const machine::Chip& chip,
            const plan::Residency& resident,
            double hertz,
            Recording* recording = nullptr);

}  // namespace orrery::device
