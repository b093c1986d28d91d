// The simulator: launch, clock, and what bound the run.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/device/simulator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/plan/clock.h"
#include "orrery/plan/residency.h"

namespace orrery::device {
namespace {

// Seconds before the first block runs.
double start_seconds(const kernel::Profile& profile,
                     const machine::Chip& chip,
                     const plan::Conditions& conditions,
                     double cold_share) {
  const machine::Launch& launch = chip.launch;
  const Duration gap =
      launch.graph_gap + (conditions.follows_other ? launch.graph_gap_other : Duration::zero());
  double seconds = profile.fixed.seconds().value();
  if (!profile.programmatic_launch && !conditions.kernel_only) {
    seconds += gap.seconds().value() * (1 + profile.extra_nodes);
  }
  if (profile.traffic.unique_read.value() > 0) {
    // The file has the whole time to the first operands; their latency is in the run.
    const double hertz = chip.clock.max.value();
    seconds +=
        launch.first_access.seconds().value() - chip.l2.latency.value() / hertz +
        cold_share * (launch.cold_access.seconds().value() - chip.dram.latency.value() / hertz);
  }
  return std::max(0.0, seconds);
}

double link_seconds(const kernel::LinkWork& work, const machine::Link& link) {
  if (!(work.sent.value() > 0)) {
    return 0;
  }
  return work.sent.value() / (link.achieved.value() * work.share);
}

// How the clock of a launch follows from what keeps the chip busy.
class ClockLaw {
 public:
  ClockLaw(const machine::Clock& clock, const plan::Conditions& conditions)
      : clock_(clock), conditions_(conditions) {}

  // Of a call that takes `seconds`, with clocks and seconds of work in it. Work in clocks takes
  // longer at a lower clock, so the busy share is that at the clock found.
  double hertz(double tensor_clocks, double dram_seconds, double clocks, double start) const {
    double hertz = clock_.max.value();
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      const double all = start + std::max(clocks / hertz, dram_seconds);
      const double tensor = std::min(1.0, tensor_clocks / hertz / all) * conditions_.data_power;
      hertz = plan::clock_hertz(clock_, power(all), tensor, std::min(1.0, dram_seconds / all));
    }
    return hertz;
  }

 private:
  double power(double call) const {
    const bool windowed =
        conditions_.clock == plan::ClockState::Mixed && conditions_.window.calls > 0;
    return plan::tensor_power(clock_,
                              windowed ? plan::steady_share(clock_, conditions_.window, call)
                                       : plan::steady_share(clock_, conditions_.clock));
  }

  const machine::Clock& clock_;
  const plan::Conditions& conditions_;
};

// Clocks that the launch's work takes at least, for a first guess of the clock.
struct Least {
  double core = 0;    // busiest pipe, mean over the SMs
  double energy = 0;  // of the tensor pipes, the same
  double dram = 0;    // seconds
};

Least least_of(const kernel::Profile& profile,
               const machine::Chip& chip,
               const plan::Residency& resident) {
  const Steps steps = steps_of(profile, chip);
  Least least;
  for (size_t kind = 0; kind < steps.kinds.size(); ++kind) {
    const double units = steps.counts[kind] * steps.rounds / static_cast<double>(chip.core.count);
    for (const Step& step : steps.kinds[kind]) {
      const double trips = units * step.trips;
      least.core += trips * *std::max_element(step.busy.begin(), step.busy.end());
      least.energy += trips * step.busy[static_cast<size_t>(Pipe::Tensor)] * step.energy;
    }
  }
  const double read =
      std::max(0.0, profile.traffic.dram_read.value() - resident.bytes(profile.traffic));
  least.dram = read / chip.dram.read.value() +
               profile.traffic.dram_write.value() * (1 - resident.kept) / chip.dram.write.value();
  return least;
}

struct Share {
  double share = 0;
  plan::Bound bound = plan::Bound::Latency;
};

// The resource that was busy for the largest share of the call.
Share busiest(const Run& run, double clocks) {
  const auto pipe = [&](Pipe which) {
    double most = 0;
    for (const SmBusy& sm : run.sms) {
      most = std::max(most, sm.pipes[static_cast<size_t>(which)]);
    }
    return most / clocks;
  };
  double port = 0;
  for (const SmBusy& sm : run.sms) {
    port = std::max(port, sm.port);
  }
  const Share shares[] = {
      {run.dram_busy / clocks, plan::Bound::Dram},
      {pipe(Pipe::Tensor), plan::Bound::Tensor},
      {std::max(pipe(Pipe::Fma), pipe(Pipe::Integer)), plan::Bound::Vector},
      {pipe(Pipe::Special), plan::Bound::Special},
      {pipe(Pipe::Issue), plan::Bound::Issue},
      {pipe(Pipe::Shared), plan::Bound::Shared},
      {std::max(run.l2_busy, port) / clocks, plan::Bound::L2},
  };
  return *std::max_element(std::begin(shares),
                           std::end(shares),
                           [](const Share& a, const Share& b) { return a.share < b.share; });
}

constexpr double kBusy = 0.5;  // a resource idle for longer does not bound the kernel: waiting does

// Seconds of a call's parts.
struct Parts {
  double start = 0;  // before the first block runs
  double hops = 0;   // messages between GPUs
  double run = 0;    // of the blocks
  double link = 0;   // beside them
  double host = 0;   // beside all

  double device() const { return start + hops + std::max(run, link); }
};

plan::Bound bound_of(const Parts& parts, const Run& run) {
  if (parts.host > parts.device() || parts.start > std::max(parts.run, parts.link)) {
    return plan::Bound::Launch;
  }
  if (parts.link > parts.run) {
    return plan::Bound::Link;
  }
  const Share most = busiest(run, std::max(1.0, run.clocks));
  return most.share < kBusy ? plan::Bound::Latency : most.bound;
}

plan::Estimate estimate_of(const Parts& parts,
                           const Run& run,
                           const kernel::Profile& profile,
                           const machine::Chip& chip) {
  plan::Estimate estimate;
  const double seconds = std::max(parts.device(), parts.host);
  estimate.time = max(Duration::from(Seconds(seconds)), Duration::picoseconds(1));
  const double stated = profile.behaviour.relative_error;
  const double error = stated > 0 ? stated : chip.overlap.error;
  estimate.low = estimate.time / (1 + error);
  estimate.high = estimate.time * (1 + error);
  estimate.evidence = plan::Evidence::Simulated;
  estimate.dram = Bytes(run.moved.dram_read + run.moved.dram_write);
  estimate.bound = bound_of(parts, run);
  const auto term = [&](const char* name, double value) {
    if (value > 0) {
      estimate.terms.push_back({name, Duration::from(Seconds(value))});
    }
  };
  term("host", parts.host);
  term("start", parts.start);
  term("hops", parts.hops);
  term("run", parts.run);
  term("link", parts.link);
  return estimate;
}

// What a launch runs under.
struct Scene {
  const kernel::Profile& profile;
  const machine::Chip& chip;
  plan::Residency resident;
  double start = 0;  // seconds
};

// Runs the launch and finds its clock, which enters the run through DRAM's bytes a clock only: a
// second run settles it.
void settle(const Scene& scene, const ClockLaw& law, Simulation& simulation, Recording* recording) {
  constexpr double kSettled = 0.01;
  constexpr int kRuns = 2;
  const double sms = static_cast<double>(scene.chip.core.count);
  const Least least = least_of(scene.profile, scene.chip, scene.resident);
  simulation.hertz = law.hertz(least.energy, least.dram, least.core, scene.start);
  for (int run = 1; run <= kRuns; ++run) {
    if (recording != nullptr) {
      *recording = {};
    }
    simulation.run =
        execute(scene.profile, scene.chip, scene.resident, simulation.hertz, recording);
    const Run& seen = simulation.run;
    const double dram = seen.dram_busy / simulation.hertz;
    const double hertz = law.hertz(seen.tensor_energy / sms, dram, seen.clocks, scene.start);
    const bool settled = std::abs(hertz / simulation.hertz - 1) < kSettled || dram == 0;
    if (settled || run < kRuns) {
      simulation.hertz = hertz;
    }
    if (settled) {
      break;
    }
  }
}

}  // namespace

Simulator::Simulator(machine::Machine machine) : machine_(std::move(machine)) {}

plan::Estimate Simulator::time(const kernel::Profile& profile,
                               const plan::Conditions& conditions) const {
  return simulate(profile, conditions).estimate;
}

Simulation Simulator::simulate(const kernel::Profile& profile,
                               const plan::Conditions& conditions,
                               Recording* recording) const {
  const machine::Chip& chip = machine_.chip;
  const plan::Residency resident = plan::residency(profile.traffic, chip.l2, conditions);
  const double unique = profile.traffic.unique_read.value();
  const double cold =
      unique > 0 ? std::clamp(1 - resident.bytes(profile.traffic) / unique, 0.0, 1.0) : 0;
  const double start = start_seconds(profile, chip, conditions, cold);
  Simulation simulation;
  settle({profile, chip, resident, start}, ClockLaw(chip.clock, conditions), simulation, recording);
  const Parts parts{.start = start,
                    .hops = profile.link.hops * profile.link.hop.seconds().value(),
                    .run = simulation.run.clocks / simulation.hertz,
                    .link = link_seconds(profile.link, chip.link),
                    .host = profile.host.seconds().value()};
  simulation.estimate = estimate_of(parts, simulation.run, profile, chip);
  simulation.start = Duration::from(Seconds(start));
  return simulation;
}

}  // namespace orrery::device
