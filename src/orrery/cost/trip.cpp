// Trips: pipes side by side, dependent chains, and Little's law for rings.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/trip.h"

#include <algorithm>

#include "orrery/cost/overlap.h"

namespace orrery::cost {
namespace {

struct Pipe {
  double cycles = 0;
  Limit limit = Limit::Chain;
};

double tensor_cycles(const kernel::PipeWork& work, const machine::Core& core) {
  if (work.tensor.value() <= 0) {
    return 0;
  }
  const auto rate = core.tensor.find(work.tensor_type);
  // A profile for this chip names a type that the chip multiplies; without a matrix unit its lanes
  // do the work.
  const double peak =
      rate != core.tensor.end() ? rate->second.value() * work.tensor_share : 2 * core.fma_lanes;
  return work.tensor.value() / peak;
}

// The vector side of an SM: instructions issued, fp32 lanes, integer lanes, special-function lanes;
// the busiest counts.
Pipe vector_pipe(const kernel::PipeWork& work, const machine::Core& core) {
  const Pipe issue{work.issue.value() / static_cast<double>(core.schedulers), Limit::Issue};
  const Pipe fma{work.fma / core.fma_lanes, Limit::Vector};
  const Pipe special{work.special / core.special_lanes, Limit::Special};
  const Pipe integer{work.integer > 0 ? work.integer / core.integer_lanes : 0, Limit::Vector};
  const Pipe* busiest = &issue;
  for (const Pipe* lanes : {&fma, &special, &integer}) {
    busiest = lanes->cycles >= busiest->cycles ? lanes : busiest;
  }
  return *busiest;
}

double chain_cycles(const kernel::Chain& chain, const machine::Chip& chip, double memory_latency) {
  return chain.memory * memory_latency + chain.shared * chip.launch.shared_latency.value() +
         chain.barriers * chip.launch.barrier.value() +
         chain.instructions * chip.launch.dependent_issue.value() + chain.fixed.value();
}

}  // namespace

Trip trip(const kernel::ProfilePhase& phase,
          const machine::Chip& chip,
          const TripConditions& conditions) {
  const auto& work = phase.work;
  const auto residents = static_cast<double>(conditions.residents);
  const double latency =
      chip.l2.latency.value() + conditions.dram_latency_share * chip.dram.latency.value();
  const double l2_bytes = work.l2_read.value() + work.l2_write.value();
  const double port = l2_bytes / chip.core.l2_port.value();

  const Pipe pipes[] = {
      {tensor_cycles(work, chip.core), Limit::Tensor},
      vector_pipe(work, chip.core),
      {(work.shared_read.value() + work.shared_write.value()) / chip.core.shared_bandwidth.value(),
       Limit::Shared},
      {port, Limit::L2Port},
  };
  Trip result;
  const Pipe* busiest = &pipes[0];
  for (const Pipe& pipe : pipes) {
    busiest = pipe.cycles > busiest->cycles ? &pipe : busiest;
  }
  result.limit = busiest->limit;
  result.cycles = busiest->cycles;
  for (const Pipe& pipe : pipes) {
    if (&pipe != busiest) {
      result.cycles = overlapped(result.cycles, pipe.cycles, conditions.pipe_overlap);
    }
  }
  result.cycles *= residents;

  const bool prefetched = phase.ring > 1;
  kernel::Chain chain = phase.chain;
  if (prefetched) {
    // Loads run ahead: their latency is paid once, and bounds the rate through the bytes in flight
    // (Little's law).
    result.fill = chain.memory * latency;
    const double in_flight =
        chain.memory > 0 ? (latency + port) / static_cast<double>(phase.ring - 1) : 0;
    chain.memory = 0;
    if (in_flight > result.cycles) {
      result = {in_flight, result.fill, Limit::InFlight};
    }
  }
  const double dependent = chain_cycles(chain, chip, latency);
  if (dependent > result.cycles) {
    result.limit = Limit::Chain;
  }
  result.cycles = overlapped(result.cycles, dependent, chip.overlap.pipes);
  return result;
}

}  // namespace orrery::cost
