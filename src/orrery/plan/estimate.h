// Estimates: a time with its interval, its bound and its terms; and the interface of what makes
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/base/result.h"
#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"

namespace orrery::plan {

/// What limits a kernel or a program.
enum class Bound { Tensor, Vector, Special, Shared, L2, Dram, Link, Latency, Launch, Issue, Clock };
std::string_view name(Bound bound);

/// Where a number comes from.
enum class Evidence { Analytic, Simulated, Interpolated, Measured };
std::string_view name(Evidence evidence);

/// One named part of a time, e.g. {"main loop", 812 us}. Terms that overlap need not add up to the
/// time.
struct Term {
  std::string name;
  Duration time;
};

/// A prediction: never a bare number.
struct Estimate {
  Duration time;
  Duration low;  // 80 % interval
  Duration high;
  Bound bound = Bound::Latency;
  Evidence evidence = Evidence::Analytic;
  std::vector<Term> terms;
  std::vector<std::string> warnings;  // outside what was validated, and why
  Bytes dram = {};                    // what moves through DRAM, by the prediction
};

enum class CacheState { Cold, Warm };
enum class ClockState {
  Burst,
  Steady,
  Mixed
};  // first ~20 ms after idling; sustained; a window across both

/// A measuring loop: after a warm-up, replays of `calls` calls for `length`, at least `replays` of
/// them, of which the median counts. Its middle lies at or behind the drop of the clock under load
/// (plan/clock.h). No calls: not known.
struct Window {
  int64_t calls = 0;
  Duration warm_up;
  Duration length;
  int64_t replays = 5;

  bool operator==(const Window&) const = default;
};

/// Under which conditions a kernel runs.
struct Conditions {
  CacheState weights = CacheState::Cold;      // operands not produced just before
  CacheState activations = CacheState::Cold;  // operands the kernel before has just written
  ClockState clock = ClockState::Mixed;
  bool graph = true;           // launched from a CUDA graph
  bool follows_other = false;  // the kernel before is a different one (larger gap)
  // A measuring loop rotates among so many copies of its operands and of its result; warm ones then
  // are in L2 only as far as all copies fit.
  int64_t input_sets = 1;
  int64_t output_sets = 1;
  int64_t activation_sets =
      0;                     // of activations, where they are not as many as input_sets; 0: so many
  bool kernel_only = false;  // the kernel's own duration, as a profiler has it: no launch gap
  double data_power = 1;  // of the matrix pipes on these data, relative to random ones: constants
                          // switch fewer wires
  Window window = {};     // of ClockState::Mixed

  bool operator==(const Conditions&) const = default;
};

/// Turns profiles into time. cost::ClosedForm and later device::Simulator; each is the other's
/// oracle.
class Estimator {
 public:
  virtual ~Estimator() = default;
  virtual Estimate time(const kernel::Profile& profile, const Conditions& conditions) const = 0;
  virtual const machine::Machine& machine() const = 0;
};

/// The times of kernels that run one after the other, in order.
std::vector<Estimate> each_of(const std::vector<kernel::Profile>& sequence,
                              const Estimator& estimator,
                              const Conditions& conditions);

/// The fastest of several candidate kernel sequences: its index and the estimate of its sum,
/// corrected for the bias of a minimum over uncertain predictions (more than one candidate: the
/// corrected time is what is reported).
struct Choice {
  size_t index = 0;
  Estimate estimate;
};

Choice choose(const std::vector<std::vector<kernel::Profile>>& candidates,
              const Estimator& estimator,
              const Conditions& conditions);

}  // namespace orrery::plan
