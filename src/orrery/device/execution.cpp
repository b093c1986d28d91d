// Execution: groups of warps come, take units and go.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/device/execution.h"

#include <algorithm>

#include "orrery/device/execution_internal.h"

namespace orrery::device {

void Execution::schedule(double time, uint32_t index, Next next) {
  actors_[index].next = next;
  queue_.push(time, index);
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

Run execute(const kernel::Profile& profile,
            const machine::Chip& chip,
            const plan::Residency& resident,
            double hertz,
            Recording* recording) {
  return Execution(profile, chip, resident, hertz, recording).run();
}

}  // namespace orrery::device
