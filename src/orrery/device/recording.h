// Recordings: what a run did when, for traces and for shares over time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "orrery/device/steps.h"
#include "orrery/device/timeline.h"

namespace orrery::device {

/// A phase of a unit on an SM. Times in clocks.
struct Span {
  uint32_t sm = 0;
  uint32_t slot = 0;  // which of the groups on the SM
  int64_t unit = 0;
  const kernel::ProfilePhase* phase = nullptr;
  double begin = 0;
  double end = 0;
  double waited = 0;  // for operands
};

/// Kept only where asked for: a run without one is faster.
struct Recording {
  static constexpr size_t kMostSpans = 200000;  // a trace of more opens slowly
  std::vector<Span> spans;                      // the first of them
  uint64_t dropped = 0;
  std::array<Timeline, kPipes> pipes;  // busy clocks, of all SMs
  Timeline l2;                         // bytes
  Timeline dram_read;                  // bytes
  Timeline dram_write;                 // bytes
};

}  // namespace orrery::device
