// Session: one call on the simulated device.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "orrery/base/text.h"
#include "orrery/device/simulator.h"
#include "orrery/plan/timing.h"
#include "orrery/session/operators.h"
#include "orrery/session/session.h"
#include "orrery/session/setting.h"

namespace orrery::session {

Result<report::SimulationReport> Session::simulate(const SimulateRequest& request) const {
  ORR_TRY(const library::Call call, parse_call(request.op, request.arguments));
  plan::Conditions conditions;
  ORR_TRY(conditions.clock, parse_state(request.state));
  ORR_TRY(conditions.weights, parse_cache(request.cache));
  conditions.activations = conditions.weights;
  ORR_TRY(const Opened opened, open(catalog_, request.machine, By::Device));
  const device::Simulator simulator(opened.machine());
  ORR_TRY(const plan::StepTime time, plan::time_call(call, conditions, opened.library, simulator));
  report::SimulationReport report{
      .call = request.op + " " + join(request.arguments, " "),
      .setting = setting(opened, conditions.clock),
      .warm = conditions.weights == plan::CacheState::Warm,
      .total = time.once,
      .kernels = {},
      .chip = opened.machine().chip,
      .counters = request.counters,
  };
  report.kernels.reserve(time.kernels->size());
  for (const kernel::Profile& profile : *time.kernels) {
    report::SimulatedKernel kernel{.profile = profile, .simulation = {}, .recording = {}};
    report.kernels.push_back(std::move(kernel));
    // A run points into the profile, which must stay where it is.
    report::SimulatedKernel& kept = report.kernels.back();
    kept.simulation = simulator.simulate(kept.profile, conditions, &kept.recording);
    conditions.activations = plan::CacheState::Warm;  // the next one reads what this one wrote
  }
  return report;
}

}  // namespace orrery::session
