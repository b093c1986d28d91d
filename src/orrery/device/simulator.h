// The simulator: an estimator that runs a profile on a chip, event by event.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/device/execution.h"
#include "orrery/machine/machine.h"
#include "orrery/plan/estimate.h"

namespace orrery::device {

/// A launch with what was seen of it.
struct Simulation {
  plan::Estimate estimate;
  Run run;
  double hertz = 0;  // of the SM clock
  Duration start;    // before the first block runs
};

/// Reads profiles and machine files only; knows no kernel by name, and fits nothing of its own.
class Simulator final : public plan::Estimator {
 public:
  explicit Simulator(machine::Machine machine);

  plan::Estimate time(const kernel::Profile& profile,
                      const plan::Conditions& conditions) const override;

  /// `recording` is filled where it is not null.
  Simulation simulate(const kernel::Profile& profile,
                      const plan::Conditions& conditions,
                      Recording* recording = nullptr) const;

  const machine::Machine& machine() const override { return machine_; }

 private:
  machine::Machine machine_;
};

}  // namespace orrery::device
