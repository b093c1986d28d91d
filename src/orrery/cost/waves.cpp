// Waves: rounds of resident CTAs, the last round alone, and the tail of ragged launches.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/waves.h"

#include <algorithm>
#include <cmath>

namespace orrery::cost {
namespace {

struct Context {
  const kernel::Profile& profile;
  const machine::Chip& chip;
  double dram_latency_share = 0;
  double sms = 1;
  double slots = 1;  // CTAs per SM
  bool persistent = false;
};

// One unit of a kind when `residents` run together: its phases one after the other.
struct UnitTime {
  double cycles = 0;
  double waits = 0;  // of them, phases in which no pipe works
  double fills = 0;  // latencies of first operands, which prefetching hides behind the unit before
  PhaseTime longest;
};

UnitTime unit_time(const kernel::UnitKind& kind, const Context& context, int64_t residents) {
  const double exponent = context.profile.behaviour.pipe_overlap;
  const TripConditions conditions{
      .residents = residents,
      .dram_latency_share = context.dram_latency_share,
      .pipe_overlap = exponent > 0 ? exponent : context.chip.overlap.pipes};
  UnitTime unit;
  for (const auto& phase : kind.phases) {
    const Trip one = trip(phase, context.chip, conditions);
    const double cycles = phase.trips * one.cycles;
    unit.cycles += cycles;
    unit.waits += one.works ? 0 : cycles;
    unit.fills += one.fill;
    if (cycles >= unit.longest.cycles) {
      unit.longest = {&phase, cycles, one.limit};
    }
  }
  return unit;
}

double total_units(const kernel::Profile& profile) {
  double units = 0;
  for (const auto& kind : profile.kinds) {
    units += kind.count;
  }
  return units;
}

// The launch's first operands are not its own latency but the launch's (Launch::first_access).
double first_latency(const kernel::Profile& profile, const Context& context) {
  const auto& phases = profile.kinds.front().phases;
  if (phases.empty() || phases.front().chain.memory <= 0) {
    return 0;
  }
  return std::min(1.0, phases.front().chain.memory) *
         (context.chip.l2.latency.value() +
          context.dram_latency_share * context.chip.dram.latency.value());
}

// Equal units: full rounds, then the rest of the busiest SM's share.
void uniform(const Context& context, double units, CoreTime& core) {
  const auto& kind = context.profile.kinds.front();
  if (context.persistent) {
    const auto ctas = static_cast<double>(context.profile.ctas);
    const double residents = std::min(context.slots, std::ceil(ctas / context.sms));
    const double rounds = std::ceil(units / ctas);
    const UnitTime unit = unit_time(kind, context, static_cast<int64_t>(residents));
    core.cycles = rounds * unit.cycles + unit.fills;
    core.longest = unit.longest;
    core.longest.cycles *= rounds;
    return;
  }
  const double share = std::ceil(units / context.sms);
  const double rounds = std::floor(share / context.slots);
  const double rest = share - rounds * context.slots;
  if (rounds > 0) {
    const UnitTime unit = unit_time(kind, context, static_cast<int64_t>(context.slots));
    core.cycles = rounds * (unit.cycles + unit.fills) +
                  (rest > 0 ? rounds : rounds - 1) * context.profile.behaviour.restart.value();
    core.longest = unit.longest;
    core.longest.cycles *= rounds;
  }
  if (rest > 0) {
    const UnitTime unit = unit_time(kind, context, static_cast<int64_t>(rest));
    core.cycles += unit.cycles + unit.fills;
    core.longest = rounds > 0 ? core.longest : unit.longest;
  }
}

// Units of several kinds: an even share of all, then one of the last kind that ends beside its
// like. A launch whose CTAs all run at once has no such tail; its longest unit bounds it, and that
// shares its SM with one as long (FlashAttention 2 with 4 query tiles deals equal tiles to the same
// SM, since 4 divides 132).
void ragged(const Context& context, double units, CoreTime& core) {
  const double slots = context.sms * context.slots;
  const auto residents =
      static_cast<int64_t>(std::min(context.slots, std::ceil(units / context.sms)));
  double shared = 0;
  UnitTime longest;
  for (const auto& kind : context.profile.kinds) {
    const UnitTime unit = unit_time(kind, context, residents);
    const double fills = context.persistent ? 0 : unit.fills;
    shared += kind.count * (unit.cycles + fills) / (context.sms * static_cast<double>(residents));
    if (unit.cycles > longest.cycles) {
      longest = unit;
    }
  }
  core.longest = longest.longest;
  const UnitTime last = unit_time(context.profile.kinds.back(), context, residents);
  const double late = std::max(0.0, 1 - slots / units);
  core.cycles = std::max(longest.cycles + longest.fills, shared + late * last.cycles);
}

// A kind whose list is issued in rounds: a unit alone on its SM, and beside one of its like.
struct Shared {
  double per_round = 0;  // units
  double alone = 0;      // cycles
  double together = 0;   // cycles, waits included
  double waits = 0;
};

// Two CTAs on an SM start together; when the shorter ends, the other goes on alone.
double pair_cycles(const Shared& a, const Shared& b) {
  const Shared& shorter = a.together < b.together ? a : b;
  const Shared& longer = a.together < b.together ? b : a;
  const double left = longer.together > 0 ? 1 - shorter.together / longer.together : 0;
  return shorter.together + left * longer.alone;
}

// All CTAs run at once, CTA i beside CTA i + sms; the list repeats.
double longest_pair(const std::vector<Shared>& list, double round, double sms, double units) {
  double longest = 0;
  for (const auto& kind : list) {
    longest = std::max(longest, kind.alone);
  }
  size_t first = 0;
  size_t second = 0;
  double first_end = list[0].per_round;
  double second_end = list[0].per_round;
  double mate = std::fmod(sms, round);
  const auto advance = [&](double position, size_t& kind, double& end) {
    while (position >= end && kind + 1 < list.size()) {
      end += list[++kind].per_round;
    }
  };
  for (double i = 0; i < std::min(round, units - sms); ++i, ++mate) {
    if (mate >= round) {
      mate -= round;
      second = 0;
      second_end = list[0].per_round;
    }
    advance(i, first, first_end);
    advance(mate, second, second_end);
    longest = std::max(longest, pair_cycles(list[first], list[second]));
  }
  return longest;
}

// How long a unit holds its slot while its mates wait now and then: the share of time that they
// wait it works as if alone.
double held_cycles(const Shared& kind) {
  double held = kind.together;
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds && kind.waits > 0; ++round) {
    const double waiting = std::min(1.0, kind.waits / held);
    const double rate = (1 - waiting) / std::max(1.0, kind.together - kind.waits) +
                        waiting / std::max(1.0, kind.alone - kind.waits);
    held = kind.waits + 1 / rate;
  }
  return held;
}

// More units than slots: an even share, and a unit of the last round that ends after it. When a
// unit starts, all before it have been issued and the other slots have `left` to do on average:
//
//     end = (all - what is issued after it) / slots - left + its own
double steady_cycles(const std::vector<Shared>& list, double round, double slots, double units) {
  // 1.15: where the last is the longest, so are its neighbours; from an event simulation of 138
  // causal launches, which this form meets within 0.6 % on average.
  constexpr double kTail = 1.15;
  double sum = 0;
  double squares = 0;
  for (const auto& kind : list) {
    const double held = held_cycles(kind);
    sum += kind.per_round * held;
    squares += kind.per_round * held * held;
  }
  const double left = squares / (2 * sum);
  double late = 0;
  double after = 0;  // of the last round, in issue order backwards
  for (auto kind = list.rbegin(); kind != list.rend(); ++kind) {
    const double held = held_cycles(*kind);
    const double own = (held - left) * kind->alone / std::max(1.0, kind->together);
    late = std::max(late, kTail * own - after / slots);
    after += kind->per_round * held;
  }
  return sum / round * units / slots + late;
}

void interleaved(const Context& context, double units, CoreTime& core) {
  std::vector<Shared> list;
  list.reserve(context.profile.kinds.size());
  const auto slots = static_cast<int64_t>(context.slots);
  double longest = 0;
  for (const auto& kind : context.profile.kinds) {
    const UnitTime alone = unit_time(kind, context, 1);
    const UnitTime together = unit_time(kind, context, slots);
    list.push_back({kind.count / context.profile.rounds,
                    alone.cycles + alone.fills,
                    together.cycles + together.fills,
                    together.waits + together.fills});
    if (alone.cycles >= longest) {
      longest = alone.cycles;
      core.longest = units > context.sms ? together.longest : alone.longest;
    }
  }
  const double round = units / context.profile.rounds;
  if (units <= context.sms) {
    core.cycles = longest;
  } else if (units <= context.sms * 2 && slots == 2) {
    core.cycles = longest_pair(list, round, context.sms, units);
  } else {
    core.cycles = steady_cycles(list, round, context.sms * context.slots, units);
  }
}

double energy_of(DType type, const machine::Clock& clock) {
  const auto energy = clock.tensor_energy.find(type);
  return energy != clock.tensor_energy.end() ? energy->second : 1;
}

double tensor_load(const kernel::Profile& profile, const machine::Chip& chip) {
  double cycles = 0;
  for (const auto& kind : profile.kinds) {
    for (const auto& phase : kind.phases) {
      const auto rate = chip.core.tensor.find(phase.work.tensor_type);
      if (phase.work.tensor.value() > 0 && rate != chip.core.tensor.end()) {
        cycles += energy_of(phase.work.tensor_type, chip.clock) * kind.count * phase.trips *
                  phase.work.tensor.value() / rate->second.value();
      }
    }
  }
  return cycles / static_cast<double>(chip.core.count);
}

}  // namespace

CoreTime core_time(const kernel::Profile& profile,
                   const machine::Chip& chip,
                   double dram_latency_share) {
  CoreTime core;
  const double units = total_units(profile);
  if (profile.kinds.empty() || !(units > 0)) {
    return core;
  }
  const int64_t sms =
      profile.usable_sms > 0 ? std::min(profile.usable_sms, chip.core.count) : chip.core.count;
  const Context context{
      .profile = profile,
      .chip = chip,
      .dram_latency_share = dram_latency_share,
      .sms = static_cast<double>(sms),
      .slots = static_cast<double>(std::max<int64_t>(1, profile.ctas_per_sm)),
      .persistent = profile.ctas > 0 && static_cast<double>(profile.ctas) < units};
  core.active_sms =
      std::min(context.sms, context.persistent ? static_cast<double>(profile.ctas) : units);
  core.tensor_load = tensor_load(profile, chip);
  for (const auto& phase : profile.kinds.front().phases) {
    core.pipelined = core.pipelined || phase.ring > 1;
  }
  if (profile.kinds.size() == 1) {
    uniform(context, units, core);
  } else if (profile.rounds > 0 && !context.persistent) {
    interleaved(context, units, core);
  } else {
    ragged(context, units, core);
  }
  core.cycles = std::max(0.0, core.cycles - first_latency(profile, context));
  const double blocks = profile.ctas > 0 ? static_cast<double>(profile.ctas) : units;
  const double starts = blocks * chip.launch.block_interval.value() * profile.behaviour.start_share;
  if (starts > core.cycles) {
    core.cycles = starts;
    core.longest.limit = Limit::BlockStart;
  }
  return core;
}

}  // namespace orrery::cost
