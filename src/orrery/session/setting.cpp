// Opens machine and library.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/setting.h"

#include <utility>

#include "orrery/cost/estimate.h"
#include "orrery/device/simulator.h"

namespace orrery::session {

std::string_view name(By by) {
  return by == By::Cost ? "cost" : "device";
}

Result<By> parse_by(std::string_view text) {
  for (const By by : {By::Cost, By::Device}) {
    if (text == name(by)) {
      return by;
    }
  }
  return make_error(
      ErrorCode::InvalidInput, "[session.by] by: got '{}', need cost or device", text);
}

std::unique_ptr<plan::Estimator> estimator_of(machine::Machine machine, By by) {
  if (by == By::Device) {
    return std::make_unique<device::Simulator>(std::move(machine));
  }
  return std::make_unique<cost::ClosedForm>(std::move(machine));
}

Result<Opened> open(const Catalog& catalog, std::string_view machine, By by) {
  if (machine.empty()) {
    return make_error(
        ErrorCode::InvalidInput,
        "[session.machine] machine: got none, need a name or a path (--machine h200)");
  }
  ORR_TRY(machine::Machine found, catalog.machine(machine));
  ORR_TRY(library::Library library, catalog.library(found));
  return Opened{std::move(library), estimator_of(std::move(found), by)};
}

report::Setting setting(const Opened& opened, plan::ClockState clock) {
  return {
      .machine = opened.machine().id,
      .machine_title = opened.machine().title,
      .library = opened.library.id(),
      .library_version = opened.library.version(),
      .clock = std::string(name(clock)),
      .limits = report::limits_of(opened.machine().chip),
  };
}

std::string_view name(plan::ClockState state) {
  switch (state) {
    case plan::ClockState::Burst:
      return "burst";
    case plan::ClockState::Steady:
      return "steady";
    case plan::ClockState::Mixed:
      return "mixed";
  }
  ORR_UNREACHABLE();
}

Result<plan::ClockState> parse_state(std::string_view text) {
  for (const plan::ClockState state :
       {plan::ClockState::Burst, plan::ClockState::Steady, plan::ClockState::Mixed}) {
    if (text == name(state)) {
      return state;
    }
  }
  return make_error(ErrorCode::InvalidInput,
                    "[session.state] state: got '{}', need burst, steady or mixed",
                    text);
}

Result<plan::CacheState> parse_cache(std::string_view text) {
  if (text == "cold") {
    return plan::CacheState::Cold;
  }
  if (text == "warm") {
    return plan::CacheState::Warm;
  }
  return make_error(
      ErrorCode::InvalidInput, "[session.cache] cache: got '{}', need cold or warm", text);
}

}  // namespace orrery::session
