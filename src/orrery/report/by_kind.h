// A plan's time by kind of operator.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/plan/plan.h"
#include "orrery/plan/timing.h"
#include "orrery/report/limits.h"

namespace orrery::report {

struct KindTime {
  std::string_view kind;
  int64_t calls = 0;
  Duration time = {};
  plan::Bound bound = plan::Bound::Latency;  // of most of its time
  Duration least = {};                       // that the machine's limits allow (limits.h)
};

/// Longest first; equal times in the plan's order.
std::vector<KindTime> by_kind(const plan::Plan& plan,
                              const plan::PlanTime& time,
                              const Limits& limits);

}  // namespace orrery::report
