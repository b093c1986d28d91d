// Advice: which small change of an operator's arguments would make it faster.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/plan/call_times.h"
#include "orrery/report/prediction.h"

namespace orrery::session {

// The neighbours of a call are tried one by one: each differs in one argument, and each is
// something its author could do without changing what is computed:
//
//     padding    a size is rounded up to a multiple of 8 .. 256; what is too much is cut off later
//     layout     nhwc for nchw, another order of operands, dense for strided, another backend, a
//                CUDA graph
//     work       fewer rows at a time, so that the last wave of blocks is full: counted per row
//     accuracy   a smaller element type
//
// A change that is worth at least `kWorth` of the time is reported, the best of each price; of
// element types the nearest that helps.

inline constexpr double kWorth = 0.02;

/// Tries the neighbours of `op` with `arguments`, whose own time is in `now`. The cheapest first.
report::Advice advice(std::string_view op,
                      std::span<const std::string> arguments,
                      const plan::StepTime& now,
                      const plan::Conditions& conditions,
                      plan::CallTimes& times);

}  // namespace orrery::session
