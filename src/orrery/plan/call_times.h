// Call times: the time of a call, computed once and remembered.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <unordered_map>

#include "orrery/base/result.h"
#include "orrery/library/library.h"
#include "orrery/plan/estimate.h"
#include "orrery/plan/plan.h"
#include "orrery/plan/timing.h"

namespace orrery::plan {

// A search asks for the same few calls over and over. The memo holds what time_call answered,
// errors included; it is for one library and one estimator and grows until it goes. Not for several
// threads at once: each has its own.
class CallTimes {
 public:
  /// Both must outlive the memo.
  CallTimes(const library::Library& library, const Estimator& estimator)
      : library_(library), estimator_(estimator) {}

  /// The answer of time_call; the reference holds as long as the memo.
  const Result<StepTime>& time(const library::Call& call, const Conditions& conditions);

  const Estimator& estimator() const { return estimator_; }

  size_t size() const { return known_.size(); }

  void forget() { known_.clear(); }

 private:
  struct Question {
    library::Call call;
    Conditions conditions;
    bool operator==(const Question&) const = default;
  };

  struct Hash {
    size_t operator()(const Question& question) const;
  };

  const library::Library& library_;
  const Estimator& estimator_;
  std::unordered_map<Question, Result<StepTime>, Hash> known_;
};

/// Times `plan` by the memo. Errors are the library's, with the step's name.
Result<PlanTime> time_plan(const Plan& plan, CallTimes& times);

}  // namespace orrery::plan
