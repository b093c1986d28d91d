// Timelines: how busy something is over the time of a run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace orrery::device {

/// A sum of amounts, each spread evenly over its time, in windows of equal width. The width doubles
/// whenever the run outgrows kWindows of them, so a run of any length has 256 to 512.
class Timeline {
 public:
  static constexpr size_t kWindows = 512;

  /// `begin` <= `end`, in clocks.
  void add(double begin, double end, double amount) {
    while (end >= width_ * static_cast<double>(kWindows)) {
      widen();
    }
    const auto first = static_cast<size_t>(begin / width_);
    const auto last = static_cast<size_t>(end / width_);
    if (last >= sums_.size()) {
      sums_.resize(last + 1, 0.0);
    }
    if (first == last) {
      sums_[first] += amount;
      return;
    }
    const double rate = amount / (end - begin);
    for (size_t at = first; at <= last; ++at) {
      const double from = std::max(begin, width_ * static_cast<double>(at));
      const double to = std::min(end, width_ * static_cast<double>(at + 1));
      sums_[at] += rate * (to - from);
    }
  }

  double width() const { return width_; }

  const std::vector<double>& sums() const { return sums_; }

 private:
  void widen() {
    width_ *= 2;
    for (size_t at = 0; at < sums_.size(); ++at) {
      const double sum = sums_[at];
      sums_[at] = 0;
      sums_[at / 2] += sum;
    }
    sums_.resize((sums_.size() + 1) / 2);
  }

  double width_ = 64;
  std::vector<double> sums_;
};

}  // namespace orrery::device
