// Steps: counts of a profile over the rates of a chip.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/device/steps.h"

#include <algorithm>
#include <cmath>

#include "orrery/base/check.h"

namespace orrery::device {
namespace {

size_t at(Pipe pipe) {
  return static_cast<size_t>(pipe);
}

double tensor_clocks(const kernel::PipeWork& work, const machine::Core& core) {
  const auto rate = core.tensor.find(work.tensor_type);
  // Without a matrix unit the lanes do the work.
  const double peak =
      rate != core.tensor.end() ? rate->second.value() * work.tensor_share : 2 * core.fma_lanes;
  return work.tensor.value() > 0 ? work.tensor.value() / peak : 0;
}

std::array<double, kPipes> busy_of(const kernel::PipeWork& work, const machine::Core& core) {
  const double integer_warps = work.integer / static_cast<double>(core.warp_size);
  std::array<double, kPipes> busy = {};
  busy[at(Pipe::Issue)] = (work.issue.value() + core.integer_slots * integer_warps) /
                          static_cast<double>(core.schedulers);
  busy[at(Pipe::Fma)] = work.fma > 0 ? work.fma / core.fma_lanes : 0;
  busy[at(Pipe::Integer)] = work.integer > 0 ? work.integer / core.integer_lanes : 0;
  busy[at(Pipe::Special)] = work.special > 0 ? work.special / core.special_lanes : 0;
  busy[at(Pipe::Shared)] =
      (work.shared_read.value() + work.shared_write.value()) / core.shared_bandwidth.value();
  busy[at(Pipe::Tensor)] = tensor_clocks(work, core);
  return busy;
}

// `share` of a CTA's work: that of one group.
Step step_of(const kernel::ProfilePhase& phase, const machine::Chip& chip, double share) {
  const kernel::Chain& chain = phase.chain;
  Step step;
  step.busy = busy_of(phase.work, chip.core);
  for (double& clocks : step.busy) {
    clocks *= share;
  }
  if (phase.ring > 1) {
    // Loads that run ahead write to shared memory by themselves, beside the trip that runs.
    step.fill = phase.work.shared_write.value() / chip.core.shared_bandwidth.value() * share;
    step.busy[at(Pipe::Shared)] -= step.fill;
  }
  step.read = phase.work.l2_read.value() * share;
  step.write = phase.work.l2_write.value() * share;
  step.waits = chain.memory;
  step.chain = chain.l2 * chip.l2.latency.value() +
               chain.shared * chip.launch.shared_latency.value() +
               chain.barriers * chip.launch.barrier.value() +
               chain.instructions * chip.launch.dependent_issue.value() + chain.fixed.value();
  step.turn = chain.turn.value();
  step.trips = std::max(0.0, phase.trips);
  step.ring = std::max<int64_t>(1, phase.ring);
  step.in_turn = phase.in_turn;
  const auto energy = chip.clock.tensor_energy.find(phase.work.tensor_type);
  step.energy = energy != chip.clock.tensor_energy.end() ? energy->second : 1;
  step.phase = &phase;
  return step;
}

// The first phase that loops walks along the operands.
void mark_walk(std::vector<Step>& phases) {
  for (Step& step : phases) {
    if (step.ring > 1 || step.trips > 1) {
      step.walks = true;
      return;
    }
  }
}

}  // namespace

std::string_view name(Pipe pipe) {
  switch (pipe) {
    case Pipe::Issue:
      return "issue";
    case Pipe::Fma:
      return "fma";
    case Pipe::Integer:
      return "integer";
    case Pipe::Special:
      return "special";
    case Pipe::Shared:
      return "shared memory";
    case Pipe::Tensor:
      return "tensor";
  }
  ORR_UNREACHABLE();
}

Steps steps_of(const kernel::Profile& profile, const machine::Chip& chip) {
  const bool ping_pong = profile.roles == kernel::Roles::PingPong;
  const int64_t streams = std::max<int64_t>(1, profile.behaviour.streams);
  const int64_t parts = ping_pong ? 2 * streams : streams;
  Steps steps;
  steps.rounds = std::max(1.0, std::round(profile.rounds));
  for (const kernel::UnitKind& kind : profile.kinds) {
    std::vector<Step> phases;
    for (const kernel::ProfilePhase& phase : kind.phases) {
      phases.push_back(step_of(phase, chip, 1.0 / static_cast<double>(streams)));
      steps.max_ring = std::max(steps.max_ring, phases.back().ring);
    }
    mark_walk(phases);
    steps.kinds.push_back(std::move(phases));
    const double count = std::max(0.0, kind.count) * static_cast<double>(streams);
    steps.counts.push_back(count / steps.rounds);
    steps.units += std::llround(count);
  }
  steps.sms =
      profile.usable_sms > 0 ? std::min(profile.usable_sms, chip.core.count) : chip.core.count;
  steps.persistent = profile.ctas < profile.units;
  steps.groups = (steps.persistent ? profile.ctas : profile.units) * parts;
  steps.groups_per_sm = std::max<int64_t>(1, profile.ctas_per_sm) * parts;
  return steps;
}

}  // namespace orrery::device
