// Sweeps: predictions of a grid of options on several machines, by several threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "orrery/session/model_options.h"

namespace orrery::session {

/// Most points of a sweep, all machines together.
inline constexpr size_t kMostPoints = 1000000;

/// What is asked, in the words of the command line; any option's text may be a list or a range
/// (range.h).
struct SweepRequest {
  std::string subject;                // a model or an operator
  std::vector<std::string> machines;  // each once
  std::vector<Given> options = {};    // of a model (model_options.h), or the operator's arguments
  std::string state = {};             // of the clock, or several; empty: what predictions take
  std::string cache = {};             // operators
  std::string by = {};                // who times kernels; empty: what predictions take
  std::vector<std::string> passes_off = {};  // models
  size_t threads = 0;                        // 0: one per core
  /// Called now and then from the calling thread with the points done, and once at the end.
  std::function<void(size_t done, size_t all)> progress = {};
};

/// Does an option of the request stand for several values? Arguments that are lists by nature
/// (lengths=1,2) do not.
bool is_sweep(const SweepRequest& request);

// Session::sweep predicts every point; the answer does not depend on the number of threads. A point
// that cannot be predicted (a kernel that its machine's libraries lack) carries its error and the
// rest go on; what is wrong with the question itself is an error of the sweep: an unknown machine
// or option, a value that no point can have, too many points, no point predicted.

}  // namespace orrery::session
