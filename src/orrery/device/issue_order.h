// Issue order: which unit of which kind comes next.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "orrery/device/steps.h"

namespace orrery::device {

/// Hands out units in the order in which they are issued: in each round so many of each kind.
class IssueOrder {
 public:
  static constexpr int64_t kNone = -1;

  struct Unit {
    int64_t number = kNone;  // kNone: no more
    uint32_t kind = 0;
  };

  explicit IssueOrder(const Steps& steps) : steps_(steps), left_(due()) {}

  Unit take() {
    while (left_ == 0) {
      if (!advance()) {
        return {};
      }
    }
    --left_;
    return {next_++, kind_};
  }

 private:
  // Units of the kind in this round: over all rounds they are the kind's count, rounded once.
  int64_t due() const {
    if (kind_ >= steps_.counts.size()) {
      return 0;
    }
    const double count = steps_.counts[kind_];
    return std::llround(count * (round_ + 1)) - std::llround(count * round_);
  }

  bool advance() {
    const bool last = kind_ + 1 >= steps_.counts.size();
    if (last && round_ + 1 >= steps_.rounds) {
      return false;
    }
    round_ += last ? 1 : 0;
    kind_ = last ? 0 : kind_ + 1;
    left_ = due();
    return true;
  }

  const Steps& steps_;
  double round_ = 0;
  uint32_t kind_ = 0;
  int64_t next_ = 0;
  int64_t left_ = 0;
};

}  // namespace orrery::device
