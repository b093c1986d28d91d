// The closed-form estimator: launch, first access, and core work overlapped with memory traffic.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/estimate.h"

#include <algorithm>
#include <utility>

#include "orrery/cost/clock.h"
#include "orrery/cost/interval.h"
#include "orrery/cost/memory.h"
#include "orrery/cost/overlap.h"
#include "orrery/cost/waves.h"

namespace orrery::cost {
namespace {

// Seconds of everything before the first operand arrives.
struct Start {
  double launch = 0;
  double fixed = 0;
  double access = 0;

  double sum() const { return launch + fixed + access; }
};

Start start_of(const kernel::Profile& profile,
               const machine::Launch& launch,
               const plan::Conditions& conditions,
               double cold_share) {
  Start start;
  const Duration gap =
      launch.graph_gap + (conditions.follows_other ? launch.graph_gap_other : Duration::zero());
  start.launch = gap.seconds().value() * (1 + profile.extra_nodes);
  if (profile.programmatic_launch) {
    start.launch = 0;  // the kernel before lets it start early; only its own first access remains
  }
  start.fixed = profile.fixed.seconds().value();
  if (profile.traffic.unique_read.value() > 0) {
    start.access =
        launch.first_access.seconds().value() + cold_share * launch.cold_access.seconds().value();
  }
  return start;
}

// The part of a kernel that runs at the SM clock against the part that does not; `clock` follows
// from how busy the chip is, which follows from the time: three rounds settle it to a thousandth.
struct Body {
  double core = 0;
  double l2 = 0;
  double seconds = 0;
  double hertz = 0;
};

Body body_of(const CoreTime& core,
             const MemoryTime& memory,
             const Start& start,
             double p,
             const machine::Chip& chip,
             plan::ClockState state) {
  constexpr int kRounds = 3;
  const double power = tensor_power(chip.clock, state);
  Body body;
  body.hertz = chip.clock.max.value();
  for (int round = 0; round < kRounds; ++round) {
    body.core = core.cycles / body.hertz;
    body.l2 = memory.l2_cycles / body.hertz;
    body.seconds = overlapped(body.core, overlapped(body.l2, memory.dram, chip.overlap.memory), p);
    if (round + 1 == kRounds) {
      break;
    }
    const double all = body.seconds + start.sum();
    const double busy = all > 0 ? core.tensor_cycles / body.hertz / all : 0;
    const double streaming = all > 0 ? memory.dram / all : 0;
    body.hertz = clock_hertz(chip.clock, power, std::min(1.0, busy), std::min(1.0, streaming));
  }
  return body;
}

plan::Bound bound_of(Limit limit) {
  switch (limit) {
    case Limit::Tensor:
      return plan::Bound::Tensor;
    case Limit::Vector:
      return plan::Bound::Vector;
    case Limit::Special:
      return plan::Bound::Special;
    case Limit::Issue:
      return plan::Bound::Issue;
    case Limit::Shared:
      return plan::Bound::Shared;
    case Limit::L2Port:
      return plan::Bound::L2;
    case Limit::Chain:
    case Limit::InFlight:
      return plan::Bound::Latency;
  }
  ORR_UNREACHABLE();
}

plan::Bound bound_of(const Start& start,
                     const Body& body,
                     const MemoryTime& memory,
                     const CoreTime& core) {
  const double most = std::max({body.core, body.l2, memory.dram});
  if (start.sum() >= most) {
    return start.launch + start.fixed >= start.access ? plan::Bound::Launch : plan::Bound::Latency;
  }
  if (most == memory.dram) {
    return plan::Bound::Dram;
  }
  return most == body.l2 ? plan::Bound::L2 : bound_of(core.longest.limit);
}

}  // namespace

ClosedForm::ClosedForm(machine::Machine machine) : machine_(std::move(machine)) {}

plan::Estimate ClosedForm::time(const kernel::Profile& profile,
                                const plan::Conditions& conditions) const {
  const machine::Chip& chip = machine_.chip;
  // Whether data are cold does not depend on how many SMs draw them, so that is asked first.
  MemoryTime memory = memory_time(profile, chip, conditions, static_cast<double>(chip.core.count));
  const CoreTime core = core_time(profile, chip, memory.cold_share);
  memory = memory_time(profile, chip, conditions, core.active_sms);
  const Start start = start_of(profile, chip.launch, conditions, memory.cold_share);
  const double stated = profile.behaviour.overlap;
  const double p = stated > 0       ? stated
                   : core.pipelined ? chip.overlap.pipelined
                                    : chip.overlap.unpipelined;
  const Body body = body_of(core, memory, start, p, chip, conditions.clock);

  plan::Estimate estimate;
  const double seconds = start.sum() + body.seconds;
  estimate.time = max(Duration::from(Seconds(seconds)), Duration::picoseconds(1));
  set_interval(estimate, profile, chip);
  estimate.bound = bound_of(start, body, memory, core);
  estimate.terms.reserve(6);
  const auto term = [&](const char* name, double value) {
    if (value > 0) {
      estimate.terms.push_back({name, Duration::from(Seconds(value))});
    }
  };
  term("launch", start.launch);
  term("fixed", start.fixed);
  term("first access", start.access);
  term("core", body.core);
  term("L2", body.l2);
  term("DRAM", memory.dram);
  return estimate;
}

}  // namespace orrery::cost
