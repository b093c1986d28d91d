// A progress bar on stderr, where that is a terminal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace orrery::cli {

/// Drawn over itself; gone when it goes. Nothing is drawn in the first third of a second, so that
/// short work does not flicker.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Is stderr a terminal?
  bool is_shown() const { return is_shown_; }

  void show(size_t done, size_t all);

 private:
  std::chrono::steady_clock::time_point start_;
  bool is_shown_;
  bool is_drawn_ = false;
};

}  // namespace orrery::cli
