// Draws the progress bar.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace orrery::cli {

namespace {

constexpr std::chrono::milliseconds kQuiet(333);
constexpr size_t kWidth = 40;

}  // namespace

Progress::Progress()
    : start_(std::chrono::steady_clock::now()), is_shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (is_drawn_) {
    std::fputs("\r\033[K", stderr);  // to the line's start, and wipe it
  }
}

void Progress::show(size_t done, size_t all) {
  if (!is_shown_ || std::chrono::steady_clock::now() - start_ < kQuiet) {
    return;
  }
  const size_t filled = all == 0 ? 0 : kWidth * done / all;
  const std::string bar = fmt::format("\r[{}{}] {} of {} points",
                                      std::string(filled, '#'),
                                      std::string(kWidth - filled, '.'),
                                      done,
                                      all);
  std::fputs(bar.c_str(), stderr);
  std::fflush(stderr);
  is_drawn_ = true;
}

}  // namespace orrery::cli
