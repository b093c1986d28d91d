// Execution: the life of a group of warps as a state machine.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/device/execution.h"

#include <algorithm>
#include <cmath>

#include "orrery/base/check.h"
#include "orrery/device/issue_order.h"

namespace orrery::device {
namespace {

constexpr int64_t kNone = IssueOrder::kNone;

// What an actor's event is.
enum class Next : uint8_t {
  Unit,    // take a unit, or end
  Phase,   // begin the phase
  Trip,    // begin a trip whose operands are there
  Vector,  // pipes one after the other: the vector side first
  Matrix,  // then the matrix side
  Store,   // the trip has ended: write, go on
};

struct Actor {
  Next next = Next::Unit;
  bool parked = false;  // waits until its partner leaves its ring phase
  uint32_t sm = 0;
  uint32_t kind = 0;
  uint32_t phase = 0;
  int64_t unit = kNone;
  int64_t trip = 0;
  int64_t issued = 0;     // loads of the ring phase
  int64_t slot = 0;       // of trip 0 in the ring
  int64_t ahead = kNone;  // unit whose loads run ahead already
  uint32_t ahead_kind = 0;
  int64_t ahead_issued = 0;
  double born = 0;
  double phase_began = 0;
  double phase_waited = 0;
  Memory::Place place;
  Memory::Place ahead_place;
};

struct Sm {
  std::array<sim::Server, kPipes> pipes;
  sim::Server port;
};

class Execution {
 public:
  Execution(const kernel::Profile& profile,
            const machine::Chip& chip,
            const plan::Residency& resident,
            double hertz,
            Recording* recording)
      : profile_(profile),
        chip_(chip),
        steps_(steps_of(profile, chip)),
        memory_(profile, chip, resident, hertz, recording),
        recording_(recording),
        units_(steps_),
        sms_(static_cast<size_t>(steps_.sms)) {}

  Run run();

 private:
  using Event = uint32_t;

  void launch_first();
  double start_clock(double now, bool later);
  void handle(double now, uint32_t index);
  void begin_unit(double now, uint32_t index);
  void begin_phase(double now, uint32_t index);
  void begin_trip(double now, uint32_t index);
  void end_trip(double now, uint32_t index);
  void end_phase(double now, uint32_t index);
  void end_group(double now, uint32_t index);

  void load_ahead(double now, uint32_t index);
  void load_next_unit(double now, uint32_t index);
  double load(double now, Sm& sm, const Step& step, const Memory::Place& place, int64_t trip);
  double reserve(double now, Sm& sm, const Step& step, Pipe from, Pipe to, double share);
  void schedule(double time, uint32_t index, Next next);
  double wait(Actor& actor, double now, double there);
  void record_phase(double now, uint32_t index);

  const Step& step_of(const Actor& actor) const { return steps_.kinds[actor.kind][actor.phase]; }

  static bool is_ring(const Step& step) { return step.ring > 1; }

  static int64_t trips(const Step& step) {
    return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(step.trips)));
  }

  // Of a whole trip: the last may be a part of one.
  static double share(const Step& step, int64_t trip) {
    return std::min(1.0, step.trips - static_cast<double>(trip));
  }

  double& arrival(uint32_t index, int64_t slot) {
    return arrivals_[index * static_cast<size_t>(steps_.max_ring) +
                     static_cast<size_t>(slot % steps_.max_ring)];
  }

  const kernel::Profile& profile_;
  const machine::Chip& chip_;
  Steps steps_;
  Memory memory_;
  Recording* recording_;
  IssueOrder units_;
  std::vector<Sm> sms_;
  std::vector<Actor> actors_;
  std::vector<double> arrivals_;
  std::vector<uint32_t> locks_;  // of each ping-pong pair: who is in its ring phase, plus 1
  sim::Queue<Event> queue_;
  sim::Server starts_;
  int64_t launched_ = 0;
  double end_ = 0;
  double energy_ = 0;
  Stalls stalls_;
  double lived_ = 0;
};

void Execution::schedule(double time, uint32_t index, Next next) {
  actors_[index].next = next;
  queue_.push(time, index);
}

// A group waits for its operands, if they are not there yet.
double Execution::wait(Actor& actor, double now, double there) {
  if (there <= now) {
    return now;
  }
  stalls_.operands += there - now;
  actor.phase_waited += there - now;
  return there;
}

void Execution::record_phase(double now, uint32_t index) {
  const Actor& actor = actors_[index];
  if (recording_->spans.size() >= Recording::kMostSpans) {
    ++recording_->dropped;
    return;
  }
  recording_->spans.push_back({.sm = actor.sm,
                               .slot = index / static_cast<uint32_t>(steps_.sms),
                               .unit = actor.unit,
                               .phase = step_of(actor).phase,
                               .begin = actor.phase_began,
                               .end = now,
                               .waited = actor.phase_waited});
}

// Blocks start one after the other, chip-wide.
double Execution::start_clock(double now, bool later) {
  const double interval = chip_.launch.block_interval.value() * profile_.behaviour.start_share *
                          static_cast<double>(profile_.ctas) /
                          static_cast<double>(std::max<int64_t>(1, steps_.groups));
  const double start =
      starts_.reserve(now, std::min(interval, chip_.launch.block_interval.value()));
  return start + (later ? profile_.behaviour.restart.value() : 0);
}

void Execution::launch_first() {
  const int64_t slots = steps_.sms * steps_.groups_per_sm;
  const auto first = static_cast<uint32_t>(std::min(steps_.groups, slots));
  actors_.resize(first);
  arrivals_.resize(first * static_cast<size_t>(steps_.max_ring));
  locks_.assign(first / 2 + 1, 0);
  const bool pairs = profile_.roles == kernel::Roles::PingPong;
  for (uint32_t index = 0; index < first; ++index) {
    const uint32_t block = pairs ? index / 2 : index;
    actors_[index].sm = block % static_cast<uint32_t>(steps_.sms);
    actors_[index].born = start_clock(0, false);
    schedule(actors_[index].born, index, Next::Unit);
  }
  launched_ = first;
}

void Execution::handle(double now, uint32_t index) {
  Actor& actor = actors_[index];
  switch (actor.next) {
    case Next::Unit:
      return begin_unit(now, index);
    case Next::Phase:
      return begin_phase(now, index);
    case Next::Trip:
      return begin_trip(now, index);
    case Next::Vector: {
      const Step& step = step_of(actor);
      const double part = share(step, actor.trip);
      const double done = reserve(now, sms_[actor.sm], step, Pipe::Issue, Pipe::Special, part);
      return schedule(done, index, Next::Matrix);
    }
    case Next::Matrix: {
      const Step& step = step_of(actor);
      const double part = share(step, actor.trip);
      const double done = reserve(now, sms_[actor.sm], step, Pipe::Shared, Pipe::Tensor, part);
      stalls_.chain += step.chain * part;
      return schedule(done + step.chain * part, index, Next::Store);
    }
    case Next::Store:
      return end_trip(now, index);
  }
  ORR_UNREACHABLE();
}

void Execution::begin_unit(double now, uint32_t index) {
  Actor& actor = actors_[index];
  actor.issued = 0;
  if (actor.ahead != kNone) {
    actor.unit = actor.ahead;
    actor.kind = actor.ahead_kind;
    actor.issued = actor.ahead_issued;
    std::swap(actor.place, actor.ahead_place);
    actor.ahead = kNone;
    actor.ahead_issued = 0;
  } else {
    const IssueOrder::Unit unit = units_.take();
    if (unit.number == kNone) {
      return end_group(now, index);
    }
    actor.unit = unit.number;
    actor.kind = unit.kind;
    if (memory_.follows_tiles()) {
      memory_.place(actor.unit, actor.place);
    }
  }
  actor.phase = 0;
  begin_phase(now, index);
}

void Execution::begin_phase(double now, uint32_t index) {
  Actor& actor = actors_[index];
  const Step& step = step_of(actor);
  actor.trip = 0;
  actor.phase_began = now;
  actor.phase_waited = 0;
  if (step.ring > 1) {
    if (profile_.roles == kernel::Roles::PingPong) {
      uint32_t& lock = locks_[index / 2];
      if (lock != 0 && lock != index + 1) {
        actor.parked = true;
        actor.next = Next::Phase;
        return;
      }
      lock = index + 1;
    }
    while (actor.issued < std::min(step.ring - 1, trips(step))) {
      load_ahead(now, index);
    }
    return schedule(wait(actor, now, arrival(index, actor.slot)), index, Next::Trip);
  }
  const double there = load(now, sms_[actor.sm], step, actor.place, 0);
  if (there <= now) {
    return begin_trip(now, index);
  }
  schedule(wait(actor, now, there), index, Next::Trip);
}

void Execution::begin_trip(double now, uint32_t index) {
  Actor& actor = actors_[index];
  const Step& step = step_of(actor);
  if (step.ring > 1) {
    if (actor.issued < trips(step)) {
      load_ahead(now, index);
    } else if (profile_.roles == kernel::Roles::Cooperative) {
      load_next_unit(now, index);
    }
  }
  const double part = share(step, actor.trip);
  energy_ += step.busy[static_cast<size_t>(Pipe::Tensor)] * part * step.energy;
  if (step.in_turn) {
    actor.next = Next::Vector;
    return handle(now, index);
  }
  const double done = reserve(now, sms_[actor.sm], step, Pipe::Issue, Pipe::Tensor, part);
  const double end = std::max(done, now + step.chain * part);
  stalls_.chain += end - done;
  if (step.write > 0 || actor.trip + 1 >= trips(step) || step.ring == 1) {
    return schedule(end, index, Next::Store);
  }
  ++actor.trip;
  schedule(wait(actor, end, arrival(index, actor.slot + actor.trip)), index, Next::Trip);
}

void Execution::end_trip(double now, uint32_t index) {
  Actor& actor = actors_[index];
  const Step& step = step_of(actor);
  Sm& sm = sms_[actor.sm];
  double free = now;
  if (step.write > 0) {
    const double bytes = step.write * share(step, actor.trip);
    memory_.write(now, bytes);
    free = sm.port.reserve(now, bytes / chip_.core.l2_port.value());
    stalls_.stores += free - now;
  }
  ++actor.trip;
  if (actor.trip >= trips(step)) {
    return end_phase(free, index);
  }
  const double there = step.ring > 1 ? arrival(index, actor.slot + actor.trip)
                                     : load(now, sm, step, actor.place, actor.trip);
  schedule(wait(actor, free, there), index, Next::Trip);
}

void Execution::end_phase(double now, uint32_t index) {
  Actor& actor = actors_[index];
  const Step& step = step_of(actor);
  if (recording_ != nullptr) {
    record_phase(now, index);
  }
  if (step.ring > 1) {
    actor.slot += trips(step);
    actor.issued = 0;
    if (profile_.roles == kernel::Roles::PingPong) {
      locks_[index / 2] = 0;
      const uint32_t partner = index ^ 1U;
      if (partner < actors_.size() && actors_[partner].parked) {
        actors_[partner].parked = false;
        schedule(now, partner, Next::Phase);
      }
    }
  }
  ++actor.phase;
  if (actor.phase < steps_.kinds[actor.kind].size()) {
    return schedule(now, index, Next::Phase);
  }
  if (!steps_.persistent) {
    return end_group(now, index);
  }
  schedule(now, index, Next::Unit);
}

void Execution::end_group(double now, uint32_t index) {
  Actor& actor = actors_[index];
  end_ = std::max(end_, now);
  lived_ += now - actor.born;
  if (launched_ >= steps_.groups) {
    return;
  }
  ++launched_;
  actor.born = start_clock(now, true);
  schedule(actor.born, index, Next::Unit);
}

// The next load of the actor's ring phase.
void Execution::load_ahead(double now, uint32_t index) {
  Actor& actor = actors_[index];
  const Step& step = step_of(actor);
  const double there = load(now, sms_[actor.sm], step, actor.place, actor.issued);
  arrival(index, actor.slot + actor.issued) = there;
  ++actor.issued;
}

// A producer goes on to the next unit while the consumers still work on this one.
void Execution::load_next_unit(double now, uint32_t index) {
  Actor& actor = actors_[index];
  const std::vector<Step>& own = steps_.kinds[actor.kind];
  const bool later = std::any_of(own.begin() + actor.phase + 1, own.end(), is_ring);
  if (!steps_.persistent || later) {
    return;
  }
  if (actor.ahead == kNone) {
    const IssueOrder::Unit unit = units_.take();
    if (unit.number == kNone) {
      return;
    }
    actor.ahead = unit.number;
    actor.ahead_kind = unit.kind;
    actor.ahead_issued = 0;
    if (memory_.follows_tiles()) {
      memory_.place(unit.number, actor.ahead_place);
    }
  }
  const std::vector<Step>& phases = steps_.kinds[actor.ahead_kind];
  const auto ring = std::find_if(phases.begin(), phases.end(), is_ring);
  if (ring == phases.end() || actor.ahead_issued >= trips(*ring)) {
    return;
  }
  const Step& step = *ring;
  const double there = load(now, sms_[actor.sm], step, actor.ahead_place, actor.ahead_issued);
  arrival(index, actor.slot + actor.issued + actor.ahead_issued) = there;
  ++actor.ahead_issued;
}

// When the operands of a trip are there.
double Execution::load(
    double now, Sm& sm, const Step& step, const Memory::Place& place, int64_t trip) {
  const double bytes = step.read * share(step, trip);
  if (!(bytes > 0) && !(step.waits > 0)) {
    return now;
  }
  const double port = bytes > 0 ? sm.port.reserve(now, bytes / chip_.core.l2_port.value()) : now;
  const Read read = step.walks && memory_.follows_tiles()
                        ? memory_.read_tiles(now, place, trip, bytes)
                        : memory_.read(now, bytes);
  const double latency = chip_.l2.latency.value() + read.cold * chip_.dram.latency.value();
  return std::max(port, read.done) + step.waits * latency;
}

// Queues a trip's work at some pipes; returns when the last of them is done.
double Execution::reserve(double now, Sm& sm, const Step& step, Pipe from, Pipe to, double share) {
  double done = now;
  auto last = static_cast<size_t>(from);
  for (auto pipe = last; pipe <= static_cast<size_t>(to); ++pipe) {
    if (step.busy[pipe] > 0) {
      const double busy = step.busy[pipe] * share;
      const double end = sm.pipes[pipe].reserve(now, busy);
      if (end > done) {
        done = end;
        last = pipe;
      }
      if (recording_ != nullptr) {
        recording_->pipes[pipe].add(end - busy, end, busy);
      }
    }
  }
  stalls_.pipes[last] += done - now;
  return done;
}

Run Execution::run() {
  launch_first();
  while (!queue_.empty()) {
    const auto entry = queue_.pop();
    handle(entry.time, entry.event);
  }
  Run run;
  run.groups_clocks = end_;
  run.clocks = std::max(end_, memory_.drained());
  for (const Sm& sm : sms_) {
    SmBusy busy;
    for (size_t pipe = 0; pipe < kPipes; ++pipe) {
      busy.pipes[pipe] = sm.pipes[pipe].busy();
    }
    busy.port = sm.port.busy();
    run.sms.push_back(busy);
  }
  run.tensor_energy = energy_;
  run.l2_busy = memory_.l2_busy();
  run.dram_busy = memory_.dram_busy();
  run.stalls = stalls_;
  run.lived = lived_;
  run.groups = steps_.groups;
  run.moved = memory_.moved();
  run.events = queue_.pushed();
  return run;
}

}  // namespace

Run execute(const kernel::Profile& profile,
            const machine::Chip& chip,
            const plan::Residency& resident,
            double hertz,
            Recording* recording) {
  return Execution(profile, chip, resident, hertz, recording).run();
}

}  // namespace orrery::device
