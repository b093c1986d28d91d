// Execution, inside: groups of warps as actors, and who moves them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "orrery/device/execution.h"
#include "orrery/device/issue_order.h"
#include "orrery/sim/queue.h"
#include "orrery/sim/server.h"

namespace orrery::device {

inline constexpr int64_t kNone = IssueOrder::kNone;

/// What an actor's event is.
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

/// Pipes from the first to the last.
struct PipeRange {
  Pipe first;
  Pipe last;
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

  void load_more(double now, uint32_t index);
  void load_ahead(double now, uint32_t index);
  void load_next_unit(double now, uint32_t index);
  double load(double now, Sm& sm, const Step& step, const Memory::Place& place, int64_t trip);
  double reserve(double now, Actor& actor, PipeRange pipes);
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

}  // namespace orrery::device
