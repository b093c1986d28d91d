// Measuring loops.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/measuring_loop.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/plan/timing.h"

namespace orrery::validate {

int64_t input_sets(Bytes operands, int64_t most) {
  constexpr double kRotated = 320.0 * 1024 * 1024;
  const double sets = std::ceil(kRotated / std::max(1.0, operands.value()));
  return static_cast<int64_t>(std::min(std::max(1.0, sets), static_cast<double>(most)));
}

plan::Conditions conditions_of(const Setup& setup, const Loop& loop) {
  plan::Conditions conditions;
  const bool warm = setup.cache == plan::CacheState::Warm;
  const bool cold = setup.cache == plan::CacheState::Cold;
  conditions.weights = cold ? plan::CacheState::Cold : plan::CacheState::Warm;
  conditions.activations = conditions.weights;
  conditions.input_sets = warm ? 1 : loop.sets;
  conditions.output_sets = warm || loop.fresh ? 1 : loop.sets;
  conditions.clock = setup.clock.value_or(plan::ClockState::Mixed);
  constexpr int64_t kLeastCalls = 6;  // of a replay
  conditions.window = {.calls = std::max(loop.sets, kLeastCalls),
                       .warm_up = Duration::from(Seconds(loop.warm_up_ms * 1e-3)),
                       .length = Duration::from(Seconds(loop.window_ms * 1e-3))};
  return conditions;
}

Result<plan::Estimate> predict(const library::Call& call, const Setup& setup, const Loop& loop) {
  ORR_TRY(plan::StepTime time,
          plan::time_call(call, conditions_of(setup, loop), setup.library, setup.estimator));
  return std::move(time.once);
}

}  // namespace orrery::validate
