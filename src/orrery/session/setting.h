// A machine with its library and estimator, opened for a request.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "orrery/base/result.h"
#include "orrery/library/library.h"
#include "orrery/report/prediction.h"
#include "orrery/session/catalog.h"

namespace orrery::session {

/// Who times kernels: the closed form, or the simulated device.
enum class By { Cost, Device };

std::string_view name(By by);
Result<By> parse_by(std::string_view text);

std::unique_ptr<plan::Estimator> estimator_of(machine::Machine machine, By by);

struct Opened {
  library::Library library;
  std::unique_ptr<plan::Estimator> estimator;

  const machine::Machine& machine() const { return estimator->machine(); }
};

Result<Opened> open(const Catalog& catalog, std::string_view machine, By by = By::Cost);

/// What a report says about it.
report::Setting setting(const Opened& opened, plan::ClockState clock);

Result<plan::ClockState> parse_state(std::string_view text);
Result<plan::CacheState> parse_cache(std::string_view text);
std::string_view name(plan::ClockState state);

}  // namespace orrery::session
