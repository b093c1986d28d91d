// The time of a plan: every step's kernels chosen and timed, the sum with its interval.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/base/shared.h"
#include "orrery/kernel/profile.h"
#include "orrery/library/library.h"
#include "orrery/plan/estimate.h"
#include "orrery/plan/plan.h"

namespace orrery::plan {

/// One step, timed.
struct StepTime {
  Estimate once;                                 // of one run
  Duration total;                                // times as often as it runs
  Shared<std::vector<kernel::Profile>> kernels;  // the chosen ones, in order
  Shared<std::vector<Estimate>> each;            // of the kernels, if they are several
  size_t candidates = 1;                         // among how many they were chosen
};

struct PlanTime {
  Estimate total;               // of the whole plan: the larger of device and host
  Duration device;              // sum of the steps
  Duration host;                // launches from the host; zero for a graph
  int64_t kernels = 0;          // launches, with their memset and copy nodes
  std::vector<StepTime> steps;  // one per step of the plan
};

/// Times `plan`. Equal calls under equal conditions are timed once. Errors are the library's, with
/// the step's name.
Result<PlanTime> time_plan(const Plan& plan,
                           const library::Library& library,
                           const Estimator& estimator);

/// The time of one call under `conditions`.
Result<StepTime> time_call(const library::Call& call,
                           const Conditions& conditions,
                           const library::Library& library,
                           const Estimator& estimator);

}  // namespace orrery::plan
