// Execution: phases of a unit trip by trip, their loads, pipes and stores.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/base/check.h"
#include "orrery/device/execution_internal.h"

namespace orrery::device {

// A group waits for its operands, if they are not there yet.
double Execution::wait(Actor& actor, double now, double there) {
  if (there <= now) {
    return now;
  }
  stalls_.operands += there - now;
  actor.phase_waited += there - now;
  return there;
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
      const double done = reserve(now, actor, {Pipe::Issue, Pipe::Special});
      return schedule(done, index, Next::Matrix);
    }
    case Next::Matrix: {
      const Step& step = step_of(actor);
      const double part = share(step, actor.trip);
      const double done = reserve(now, actor, {Pipe::Shared, Pipe::Tensor});
      stalls_.chain += step.chain * part;
      return schedule(done + step.chain * part, index, Next::Store);
    }
    case Next::Store:
      return end_trip(now, index);
  }
  ORR_UNREACHABLE();
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
  if (step.ring > 1 && !(step.turn > 0)) {
    load_more(now, index);
  }
  const double part = share(step, actor.trip);
  energy_ += step.busy[static_cast<size_t>(Pipe::Tensor)] * part * step.energy;
  if (step.in_turn) {
    actor.next = Next::Vector;
    return handle(now, index);
  }
  const double turned = now + step.turn * part;
  const double done = reserve(turned, actor, {Pipe::Issue, Pipe::Tensor});
  const double end = std::max(done, now + step.chain * part);
  stalls_.chain += turned - now;
  stalls_.chain += end - done;
  if (step.write > 0 || actor.trip + 1 >= trips(step) || step.ring == 1 || step.turn > 0) {
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
  if (step.turn > 0 && step.ring > 1) {
    load_more(now, index);  // into the buffer that the product has just read
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

// A buffer of the ring is free.
void Execution::load_more(double now, uint32_t index) {
  const Actor& actor = actors_[index];
  if (actor.issued < trips(step_of(actor))) {
    load_ahead(now, index);
  } else if (profile_.roles == kernel::Roles::Cooperative) {
    load_next_unit(now, index);
  }
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
  if (step.fill > 0) {
    constexpr auto kShared = static_cast<size_t>(Pipe::Shared);
    const double busy = step.fill * share(step, trip);
    const double end = sm.pipes[kShared].reserve(now, busy);
    if (recording_ != nullptr) {
      recording_->pipes[kShared].add(end - busy, end, busy);
    }
  }
  const bool tiles = step.walks && memory_.follows_tiles();
  const double port = bytes > 0 ? sm.port.reserve(now, bytes / chip_.core.l2_port.value()) : now;
  const Read read = tiles ? memory_.read_tiles(now, place, trip, bytes) : memory_.read(now, bytes);
  const double latency = chip_.l2.latency.value() + read.cold * chip_.dram.latency.value();
  // One group of warps asks for loads between its turns, so that each of a ring's loads meets a
  // turn of every other one on its way.
  const double turns = step.turn * static_cast<double>(std::max<int64_t>(0, step.ring - 2));
  return std::max(port, read.done) + step.waits * latency + turns;
}

// Queues a trip's work at some pipes; returns when the last of them is done.
double Execution::reserve(double now, Actor& actor, PipeRange pipes) {
  const Step& step = step_of(actor);
  Sm& sm = sms_[actor.sm];
  const double part = share(step, actor.trip);
  double done = now;
  auto last = static_cast<size_t>(pipes.first);
  for (auto pipe = last; pipe <= static_cast<size_t>(pipes.last); ++pipe) {
    if (step.busy[pipe] > 0) {
      const double busy = step.busy[pipe] * part;
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

}  // namespace orrery::device
