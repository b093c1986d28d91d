// Trips: pipes side by side, dependent chains, and Little's law for rings.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/trip.h"

#include <algorithm>

#include "orrery/cost/overlap.h"

namespace orrery::cost {
namespace {

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
// the busiest counts. An instruction for the integer lanes holds the issue port longer than one.
Busy vector_pipe(const kernel::PipeWork& work, const machine::Core& core) {
  const double integer_warps = work.integer / static_cast<double>(core.warp_size);
  const double slots = work.issue.value() + core.integer_slots * integer_warps;
  const Busy issue{slots / static_cast<double>(core.schedulers), Limit::Issue};
  const Busy fma{work.fma / core.fma_lanes, Limit::Vector};
  const Busy special{work.special / core.special_lanes, Limit::Special};
  const Busy integer{work.integer > 0 ? work.integer / core.integer_lanes : 0, Limit::Vector};
  const Busy* busiest = &issue;
  for (const Busy* lanes : {&fma, &special, &integer}) {
    busiest = lanes->cycles >= busiest->cycles ? lanes : busiest;
  }
  return *busiest;
}

}  // namespace

double chain_cycles(const kernel::Chain& chain,
                    const machine::Chip& chip,
                    double dram_latency_share) {
  const double l2 = chip.l2.latency.value();
  return chain.memory * (l2 + dram_latency_share * chip.dram.latency.value()) + chain.l2 * l2 +
         chain.shared * chip.launch.shared_latency.value() +
         chain.barriers * chip.launch.barrier.value() +
         chain.instructions * chip.launch.dependent_issue.value() + chain.turn.value() +
         chain.fixed.value();
}

Busy busy_pipes(const kernel::PipeWork& work, const machine::Chip& chip, double pipe_overlap) {
  const double l2_bytes = work.l2_read.value() + work.l2_write.value();
  const Busy pipes[] = {
      {tensor_cycles(work, chip.core), Limit::Tensor},
      vector_pipe(work, chip.core),
      {(work.shared_read.value() + work.shared_write.value()) / chip.core.shared_bandwidth.value(),
       Limit::Shared},
      {l2_bytes / chip.core.l2_port.value(), Limit::L2Port},
  };
  const Busy* busiest = &pipes[0];
  for (const Busy& pipe : pipes) {
    busiest = pipe.cycles > busiest->cycles ? &pipe : busiest;
  }
  Busy result = *busiest;
  for (const Busy& pipe : pipes) {
    if (&pipe != busiest) {
      result.cycles = overlapped(result.cycles, pipe.cycles, pipe_overlap);
    }
  }
  return result;
}

namespace {

// How long a trip of a prefetching CTA takes at least, however little its pipes have to do.
struct Prefetched {
  double in_flight = 0;  // by Little's law: what is on its way while `ring` - 1 trips run
  double in_turn = 0;    // by its own group of warps, where that loads and multiplies (chain.turn)
};

Prefetched prefetched_trip(const kernel::ProfilePhase& phase,
                           const machine::Chip& chip,
                           double latency) {
  const kernel::PipeWork& work = phase.work;
  const kernel::Chain& chain = phase.chain;
  const double turn = chain.turn.value();
  Prefetched least;
  if (!(chain.memory > 0)) {
    return least;
  }
  const double port = (work.l2_read.value() + work.l2_write.value()) / chip.core.l2_port.value();
  double round = chain.memory * latency + port;
  if (turn > 0) {
    // A load waits for the product that read its buffer.
    const double product = std::max(tensor_cycles(work, chip.core),
                                    work.shared_read.value() / chip.core.shared_bandwidth.value());
    round += product;
    least.in_turn = turn + product;
  }
  least.in_flight = turn + round / static_cast<double>(phase.ring - 1);
  return least;
}

}  // namespace

Trip trip(const kernel::ProfilePhase& phase,
          const machine::Chip& chip,
          const TripConditions& conditions) {
  const auto residents = static_cast<double>(conditions.residents);
  const double latency =
      chip.l2.latency.value() + conditions.dram_latency_share * chip.dram.latency.value();
  const Busy busy = busy_pipes(phase.work, chip, conditions.pipe_overlap);
  Trip result;
  result.limit = busy.limit;
  result.cycles = busy.cycles * residents;

  kernel::Chain chain = phase.chain;
  if (phase.ring > 1) {
    // Loads run ahead: their latency is paid once, and bounds the rate through the bytes in flight
    // (Little's law).
    result.fill = chain.memory * latency;
    const Prefetched least = prefetched_trip(phase, chip, latency);
    if (least.in_flight > std::max(result.cycles, least.in_turn)) {
      result.limit = Limit::InFlight;
    }
    result.cycles = std::max({result.cycles, least.in_flight, least.in_turn});
    chain.memory = 0;
    chain.turn = {};
  }
  const double dependent = chain_cycles(chain, chip, conditions.dram_latency_share);
  if (dependent > result.cycles) {
    result.limit = Limit::Chain;
  }
  result.cycles = overlapped(result.cycles, dependent, chip.overlap.pipes);
  result.works = busy.cycles > 0;
  return result;
}

}  // namespace orrery::cost
