// Call times: a hash map of answers.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/plan/call_times.h"

#include <utility>

namespace orrery::plan {
namespace {

size_t mixed(size_t hash, size_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ULL;
}

}  // namespace

// Sizes tell calls apart well enough; what they do not tell, the comparison does.
size_t CallTimes::Hash::operator()(const Question& question) const {
  size_t hash = mixed(1, question.call.index());
  for (const auto& [name, value] : library::positive_sizes(question.call)) {
    hash = mixed(hash, static_cast<size_t>(value));
  }
  hash = mixed(hash, static_cast<size_t>(question.conditions.clock));
  return mixed(hash, static_cast<size_t>(question.conditions.weights));
}

const Result<StepTime>& CallTimes::time(const library::Call& call, const Conditions& conditions) {
  Question question{call, conditions};
  const auto found = known_.find(question);
  if (found != known_.end()) {
    return found->second;
  }
  auto answer = time_call(call, conditions, library_, estimator_);
  return known_.emplace(std::move(question), std::move(answer)).first->second;
}

}  // namespace orrery::plan
