// Residents: mean value analysis of the CTAs on an SM.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/residents.h"

#include <algorithm>
#include <cmath>

#include "orrery/cost/trip.h"

namespace orrery::cost {
namespace {

// Clocks of one unit.
struct Demand {
  double pipes = 0;
  double chain = 0;
  PhaseTime longest;
};

Demand demand_of(const kernel::UnitKind& kind,
                 const machine::Chip& chip,
                 double dram_latency_share,
                 double exponent) {
  Demand demand;
  for (const auto& phase : kind.phases) {
    const Busy busy = busy_pipes(phase.work, chip, exponent);
    const double chain = chain_cycles(phase.chain, chip, dram_latency_share);
    demand.pipes += phase.trips * busy.cycles;
    demand.chain += phase.trips * chain;
    const double longest = phase.trips * std::max(busy.cycles, chain);
    if (longest >= demand.longest.cycles) {
      demand.longest = {&phase, longest, chain > busy.cycles ? Limit::Chain : busy.limit};
    }
  }
  return demand;
}

// What a unit asks of the memory, in clocks: all, and what it waits for; and into how many parts
// that go their own ways it falls.
struct Visit {
  double memory = 0;
  double read = 0;
  double streams = 1;
};

// Clocks in which each of n residents ends one unit, for n = `full` and n = `rest`.
struct Cycle {
  double full = 0;
  double rest = 0;
};

Cycle cycle_of(const Demand& demand, const Visit& visit, int64_t full, int64_t rest) {
  Cycle cycle;
  const double pipes = demand.pipes / visit.streams;
  const double read = visit.read / visit.streams;
  const double busiest = std::max(demand.pipes, visit.memory) / visit.streams;
  double at_pipes = 0;
  double at_memory = 0;
  const auto streams = static_cast<int64_t>(visit.streams);
  for (int64_t n = 1; n <= full * streams; ++n) {
    const double residents = static_cast<double>(n);
    const double in_pipes = pipes * (1 + at_pipes);
    const double in_memory = read * (1 + at_memory);
    const double time = std::max(demand.chain + in_pipes + in_memory, residents * busiest);
    if (!(time > 0)) {
      return cycle;
    }
    at_pipes = residents * in_pipes / time;
    at_memory = residents * in_memory / time;
    cycle.full = time;
    if (n == rest * streams) {
      cycle.rest = time;
    }
  }
  return cycle;
}

// The latency of the launch's first operands is the launch's (Launch::first_access), as far as the
// first round waits for it.
double first_latency(const kernel::Profile& profile,
                     const machine::Chip& chip,
                     double dram_latency_share) {
  const auto& phases = profile.kinds.front().phases;
  const double first = phases.empty() ? 0 : std::min(1.0, phases.front().chain.memory);
  return first * (chip.l2.latency.value() + dram_latency_share * chip.dram.latency.value());
}

double units_of(const kernel::Profile& profile) {
  double units = 0;
  for (const auto& kind : profile.kinds) {
    units += kind.count;
  }
  return units;
}

}  // namespace

ResidentsTime residents_time(const kernel::Profile& profile,
                             const machine::Chip& chip,
                             const ResidentsConditions& conditions) {
  ResidentsTime result;
  const double units = units_of(profile);
  if (!(units > 0)) {
    return result;
  }
  const double stated = profile.behaviour.pipe_overlap;
  const double exponent = stated > 0 ? stated : chip.overlap.pipes;
  const double latency_share = conditions.dram_latency_share;
  const double sms = static_cast<double>(
      profile.usable_sms > 0 ? std::min(profile.usable_sms, chip.core.count) : chip.core.count);
  const double share = std::ceil(units / sms);
  const double slots = static_cast<double>(std::max<int64_t>(1, profile.ctas_per_sm));
  const double residents = std::min(slots, share);
  const double full = std::floor(share / residents);
  const double rest = share - full * residents;

  Demand demand = demand_of(profile.kinds.front(), chip, latency_share, exponent);
  const double launched =
      chip.launch.block_interval.value() * profile.behaviour.start_share * units / share;
  demand.pipes = std::max(demand.pipes, launched);
  const double memory = conditions.memory * conditions.hertz / share;
  const Visit visit{.memory = memory,
                    .read = memory * (conditions.read_share +
                                      chip.overlap.write_wait * (1 - conditions.read_share)),
                    .streams = std::max<double>(1, static_cast<double>(profile.behaviour.streams))};
  const Cycle cycle =
      cycle_of(demand, visit, static_cast<int64_t>(residents), static_cast<int64_t>(rest));
  double clocks = full * cycle.full + cycle.rest;
  const double last = rest > 0 ? cycle.rest : cycle.full;
  // Units of further kinds (a block with a remainder) start with the last round and may end later.
  for (size_t i = 1; i < profile.kinds.size(); ++i) {
    const Demand other = demand_of(profile.kinds[i], chip, latency_share, exponent);
    clocks = std::max(clocks, clocks - last + other.pipes + other.chain + memory);
  }
  if (cycle.full > 0) {
    clocks -= first_latency(profile, chip, latency_share) *
              std::min(1.0, demand.chain / (full > 0 ? cycle.full : last));
  }
  const double rounds = full + (rest > 0 ? 1 : 0);
  if (profile.behaviour.single_pass && rounds > 1) {
    clocks += chip.overlap.in_step * std::min(memory, demand.pipes) * share / rounds;
  }
  result.pipes = share * demand.pipes / conditions.hertz;
  result.chain = rounds * demand.chain / conditions.hertz;
  result.body = std::max(clocks / conditions.hertz, conditions.memory);
  result.longest = demand.longest;
  return result;
}

}  // namespace orrery::cost
