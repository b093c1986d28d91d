// Times plans: choice per call, then sums.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/plan/timing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "orrery/plan/call_times.h"
#include "orrery/plan/interval.h"

namespace orrery::plan {

namespace {

int64_t nodes(const StepTime& step) {
  double count = 0;
  for (const kernel::Profile& kernel : *step.kernels) {
    count += 1 + kernel.extra_nodes;
  }
  return static_cast<int64_t>(std::lround(count));
}

/// What takes most of the plan's time, by the bounds of its steps.
Bound main_bound(const PlanTime& time) {
  std::map<Bound, Duration> by_bound;
  for (const StepTime& step : time.steps) {
    by_bound[step.once.bound] += step.total;
  }
  Bound most = Bound::Latency;
  Duration longest = Duration::zero();
  for (const auto& [bound, total] : by_bound) {
    if (total > longest) {
      most = bound;
      longest = total;
    }
  }
  return most;
}

/// Least sure of the steps' evidence: a sum is as good as its weakest part.
Evidence weakest(const PlanTime& time) {
  Evidence evidence = Evidence::Measured;
  for (const StepTime& step : time.steps) {
    evidence = std::min(evidence, step.once.evidence);
  }
  return time.steps.empty() ? Evidence::Analytic : evidence;
}

void add_terms(PlanTime& time, const Plan& plan) {
  std::vector<std::string_view> order;
  std::map<std::string_view, Duration> by_kind;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const std::string_view kind = kind_of(plan.steps[i].call);
    if (!by_kind.contains(kind)) {
      order.push_back(kind);
    }
    by_kind[kind] += time.steps[i].total;
  }
  for (const std::string_view kind : order) {
    time.total.terms.push_back({std::string(kind), by_kind[kind]});
  }
}

void add_warnings(PlanTime& time, const Plan& plan) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    for (const std::string& warning : time.steps[i].once.warnings) {
      const std::string text = plan.steps[i].name + ": " + warning;
      auto& all = time.total.warnings;
      if (std::find(all.begin(), all.end(), text) == all.end()) {
        all.push_back(text);
      }
    }
  }
}

/// The host runs ahead of the device: the slower of both is seen. What it spends goes with the
/// operators it dispatches (Python, dispatcher, allocator), hardly with the kernels that each
/// launches.
void add_host(PlanTime& time, const Plan& plan, const Estimator& estimator) {
  const machine::Launch& launch = estimator.machine().chip.launch;
  const Duration each = plan.host_launch > Duration::zero() ? plan.host_launch : launch.host_launch;
  int64_t operators = 0;
  for (const Step& step : plan.steps) {
    operators += step.times;
  }
  time.host = launch.host_step + each * operators;
  if (time.host > time.total.time) {
    const double ratio = time.host / time.total.time;
    time.total.low = time.total.low * ratio;
    time.total.high = time.total.high * ratio;
    time.total.time = time.host;
    time.total.bound = Bound::Launch;
  }
}

void sum(PlanTime& time) {
  std::vector<Seconds> below;
  std::vector<Seconds> above;
  for (const StepTime& step : time.steps) {
    time.device += step.total;
    const double times = step.total / step.once.time;
    below.push_back(times * (step.once.time - step.once.low).seconds());
    above.push_back(times * (step.once.high - step.once.time).seconds());
  }
  time.total.time = time.device;
  time.total.low =
      max(Duration::zero(), time.device - Duration::from(combined_half(below, kStepCorrelation)));
  time.total.high = time.device + Duration::from(combined_half(above, kStepCorrelation));
}

}  // namespace

Result<StepTime> time_call(const library::Call& call,
                           const Conditions& conditions,
                           const library::Library& library,
                           const Estimator& estimator) {
  ORR_TRY(auto candidates, library.candidates(call, estimator.machine().chip));
  if (candidates.empty()) {
    return make_error(ErrorCode::Unsupported,
                      "[plan.timing] {}: got no kernel, need one",
                      library::to_text(call));
  }
  Choice choice = choose(candidates, estimator, conditions);
  if (choice.estimate.high == Duration::max()) {
    return make_error(ErrorCode::InvalidInput,
                      "[plan.timing] {}: got a time of more than {:.0f} days, need smaller sizes",
                      to_text(call),
                      Duration::max().seconds().value() / 86400);
  }
  StepTime step;
  step.once = std::move(choice.estimate);
  step.total = step.once.time;
  step.candidates = candidates.size();
  step.kernels = Shared(std::move(candidates[choice.index]));
  if (step.kernels->size() > 1) {
    step.each = Shared(each_of(*step.kernels, estimator, conditions));
  }
  return step;
}

Result<PlanTime> time_plan(const Plan& plan,
                           const library::Library& library,
                           const Estimator& estimator) {
  CallTimes times(library, estimator);
  return time_plan(plan, times);
}

Result<PlanTime> time_plan(const Plan& plan, CallTimes& times) {
  PlanTime time;
  time.steps.reserve(plan.steps.size());
  for (const Step& step : plan.steps) {
    const Result<StepTime>& timed = times.time(step.call, step.conditions);
    if (!timed.ok()) {
      return timed.error().with_note(fmt::format("step '{}' of {}", step.name, plan.name));
    }
    time.steps.push_back(*timed);
    StepTime& added = time.steps.back();
    added.total = added.once.time * step.times;
    time.kernels += nodes(added) * step.times;
  }
  sum(time);
  time.total.bound = main_bound(time);
  time.total.evidence = weakest(time);
  add_terms(time, plan);
  add_warnings(time, plan);
  if (plan.runtime == Runtime::Eager) {
    add_host(time, plan, times.estimator());
  }
  return time;
}

}  // namespace orrery::plan
