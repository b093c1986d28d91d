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

  explicit IssueOrder(const Steps& steps)
      : steps_(steps), sum_(count(0)), bound_(std::llround(sum_)) {}

  Unit take() {
    if (next_ >= steps_.units) {
      return {};
    }
    while (next_ >= bound_ && advance()) {
    }
    return {next_++, kind_};
  }

 private:
  double count(uint32_t kind) const {
    return kind < steps_.counts.size() ? steps_.counts[kind] : 0;
  }

  bool advance() {
    const bool last = kind_ + 1 >= steps_.counts.size();
    if (last && round_ + 1 >= steps_.rounds) {
      return false;
    }
    round_ += last ? 1 : 0;
    kind_ = last ? 0 : kind_ + 1;
    sum_ += count(kind_);
    bound_ = std::llround(sum_);
    return true;
  }

  const Steps& steps_;
  double sum_ = 0;  // units of all kinds so far, whole or not
  int64_t bound_ = 0;
  int64_t next_ = 0;
  double round_ = 0;
  uint32_t kind_ = 0;
};

}  // namespace orrery::device
