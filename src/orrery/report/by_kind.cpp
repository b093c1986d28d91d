// Sums by kind of operator.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/by_kind.h"

#include <algorithm>
#include <map>

namespace orrery::report {

std::vector<KindTime> by_kind(const plan::Plan& plan,
                              const plan::PlanTime& time,
                              const Limits& limits) {
  std::vector<KindTime> kinds;
  std::map<std::string_view, std::map<plan::Bound, Duration>> bounds;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const std::string_view kind = plan::kind_of(plan.steps[i].call);
    auto found = std::find_if(
        kinds.begin(), kinds.end(), [kind](const KindTime& each) { return each.kind == kind; });
    if (found == kinds.end()) {
      kinds.push_back({kind});
      found = kinds.end() - 1;
    }
    found->calls += plan.steps[i].times;
    found->time += time.steps[i].total;
    found->least += least_time(plan.steps[i].call, time.steps[i], limits) * plan.steps[i].times;
    Duration& bound = bounds[kind][time.steps[i].once.bound];
    bound += time.steps[i].total;
  }
  for (KindTime& kind : kinds) {
    Duration longest = Duration::zero();
    for (const auto& [bound, total] : bounds[kind.kind]) {
      if (total > longest) {
        longest = total;
        kind.bound = bound;
      }
    }
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const KindTime& a, const KindTime& b) {
    return a.time > b.time;
  });
  return kinds;
}

}  // namespace orrery::report
