// The closed-form estimator: launch, first access, and core work overlapped with memory traffic.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/estimate.h"

#include <algorithm>
#include <utility>

#include "orrery/cost/interval.h"
#include "orrery/cost/link.h"
#include "orrery/cost/memory.h"
#include "orrery/cost/overlap.h"
#include "orrery/cost/residents.h"
#include "orrery/cost/waves.h"
#include "orrery/plan/clock.h"

namespace orrery::cost {
namespace {

// Seconds of everything before the first operand arrives.
struct Start {
  double launch = 0;
  double fixed = 0;
  double access = 0;
  double hops = 0;  // messages between GPUs that wait for one another

  double sum() const { return launch + fixed + access + hops; }
};

Start start_of(const kernel::Profile& profile,
               const machine::Launch& launch,
               const plan::Conditions& conditions,
               double cold_share) {
  Start start;
  const Duration gap =
      launch.graph_gap + (conditions.follows_other ? launch.graph_gap_other : Duration::zero());
  start.launch = gap.seconds().value() * (1 + profile.extra_nodes);
  if (profile.programmatic_launch || conditions.kernel_only) {
    start.launch = 0;  // the kernel before lets it start early; only its own first access remains
  }
  start.fixed = profile.fixed.seconds().value();
  start.hops = hop_seconds(profile.link);
  if (profile.traffic.unique_read.value() > 0) {
    start.access =
        launch.first_access.seconds().value() + cold_share * launch.cold_access.seconds().value();
  }
  return start;
}

// What a kernel does after its start: work in clocks of the SM clock, and DRAM traffic in seconds.
struct Work {
  double core = 0;     // clocks of the busiest SM
  double tensor = 0;   // clocks the matrix pipes are busy, mean over all SMs, by energy
  double l2 = 0;       // clocks of L2
  double dram = 0;     // seconds
  double link = 0;     // seconds
  double overlap = 1;  // exponent of core work with memory traffic
};

struct Body {
  double core = 0;  // seconds, as all below
  double l2 = 0;
  double chain = 0;  // waiting of CTAs that do not prefetch; otherwise part of core
  double seconds = 0;
};

// The clock follows from how busy the chip is, which follows from the time: three rounds settle it
// to a thousandth.
Body body_of(const Work& work, double start, const machine::Chip& chip, double power) {
  constexpr int kRounds = 3;
  double hertz = chip.clock.max.value();
  Body body;
  for (int round = 1;; ++round) {
    body.core = work.core / hertz;
    body.l2 = work.l2 / hertz;
    const double memory = overlapped(body.l2, work.dram, chip.overlap.memory);
    body.seconds = overlapped(overlapped(body.core, work.link, work.overlap), memory, work.overlap);
    const double all = body.seconds + start;
    if (round == kRounds || !(all > 0)) {
      return body;
    }
    const double busy = work.tensor / hertz / all;
    const double next = plan::clock_hertz(chip.clock, power, busy, std::min(1.0, work.dram / all));
    if (next == hertz) {
      return body;
    }
    hertz = next;
  }
}

// CTAs that overlap with their neighbours only. No matrix unit is busy, so the clock stays at its
// maximum.
Body residents_body(const kernel::Profile& profile,
                    const machine::Chip& chip,
                    const MemoryTime& memory,
                    CoreTime& core) {
  const double hertz = chip.clock.max.value();
  Body body;
  body.l2 =
      std::max(l2_cycles(profile.traffic, chip), memory.l2_once / chip.l2.stream.value()) / hertz;
  const ResidentsTime time =
      residents_time(profile,
                     chip,
                     {.hertz = hertz,
                      .memory = overlapped(body.l2, memory.dram, chip.overlap.streaming),
                      .read_share = memory.read_share,
                      .dram_latency_share = memory.cold_share});
  body.core = time.pipes;
  body.chain = time.chain;
  body.seconds = time.body;
  core.longest = time.longest;
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
    case Limit::BlockStart:
      return plan::Bound::Launch;
    case Limit::Chain:
    case Limit::InFlight:
      return plan::Bound::Latency;
  }
  ORR_UNREACHABLE();
}

plan::Bound bound_of(const Start& start,
                     const Body& body,
                     const MemoryTime& memory,
                     const CoreTime& core,
                     double link) {
  const double most = std::max({body.core, body.chain, body.l2, memory.dram, link});
  if (start.sum() >= most) {
    return start.launch + start.fixed >= start.access ? plan::Bound::Launch : plan::Bound::Latency;
  }
  if (most == link) {
    return plan::Bound::Link;
  }
  if (most == memory.dram) {
    return plan::Bound::Dram;
  }
  if (most == body.chain) {
    return plan::Bound::Latency;
  }
  return most == body.l2 ? plan::Bound::L2 : bound_of(core.longest.limit);
}

}  // namespace

ClosedForm::ClosedForm(machine::Machine machine) : machine_(std::move(machine)) {
  for (const auto state :
       {plan::ClockState::Burst, plan::ClockState::Steady, plan::ClockState::Mixed}) {
    const machine::Clock& clock = machine_.chip.clock;
    tensor_power_[static_cast<size_t>(state)] =
        plan::tensor_power(clock, plan::steady_share(clock, state));
  }
}

plan::Estimate ClosedForm::time(const kernel::Profile& profile,
                                const plan::Conditions& conditions) const {
  const machine::Chip& chip = machine_.chip;
  const MemoryTime memory = memory_time(profile, chip, conditions);
  const bool residents = profile.behaviour.residents;
  CoreTime core = residents ? CoreTime{} : core_time(profile, chip, memory.cold_share);
  const Start start = start_of(profile, chip.launch, conditions, memory.cold_share);
  const bool windowed = conditions.clock == plan::ClockState::Mixed && conditions.window.calls > 0;
  const auto state = windowed ? plan::ClockState::Burst : conditions.clock;
  const double stated = profile.behaviour.overlap;
  const Work work{.core = core.cycles,
                  .tensor = core.tensor_load * conditions.data_power,
                  .l2 = l2_cycles(profile.traffic, chip),
                  .dram = memory.dram,
                  .link = link_seconds(profile.link, chip.link),
                  .overlap = stated > 0       ? stated
                             : core.pipelined ? chip.overlap.pipelined
                                              : chip.overlap.unpipelined};
  Body body = residents
                  ? residents_body(profile, chip, memory, core)
                  : body_of(work, start.sum(), chip, tensor_power_[static_cast<size_t>(state)]);
  if (windowed && !residents) {
    const double share =
        plan::steady_share(chip.clock, conditions.window, start.sum() + body.seconds);
    body = body_of(work, start.sum(), chip, plan::tensor_power(chip.clock, share));
  }

  plan::Estimate estimate;
  const double device = start.sum() + body.seconds;
  // The host runs ahead of the device: the slower of both is seen.
  const double host = profile.host.seconds().value();
  const double seconds = std::max(device, host);
  estimate.time = max(Duration::from(Seconds(seconds)), Duration::picoseconds(1));
  set_interval(estimate, profile, chip);
  estimate.bound =
      host > device ? plan::Bound::Launch : bound_of(start, body, memory, core, work.link);
  estimate.dram = Bytes(memory.dram_bytes);
  estimate.terms.reserve(10);
  const auto term = [&](const char* name, double value) {
    if (value > 0) {
      estimate.terms.push_back({name, Duration::from(Seconds(value))});
    }
  };
  term("host", host);
  term("launch", start.launch);
  term("fixed", start.fixed);
  term("first access", start.access);
  term("hops", start.hops);
  term("core", body.core);
  term("waiting", body.chain);
  term("link", work.link);
  term("L2", body.l2);
  term("DRAM", memory.dram);
  return estimate;
}

}  // namespace orrery::cost
