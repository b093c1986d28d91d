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

Trip trip(const kernel::ProfilePhase& phase,
          const machine::Chip& chip,
          const TripConditions& conditions) {
  const auto& work = phase.work;
  const auto residents = static_cast<double>(conditions.residents);
  const double latency =
      chip.l2.latency.value() + conditions.dram_latency_share * chip.dram.latency.value();
  const Busy busy = busy_pipes(work, chip, conditions.pipe_overlap);
  Trip result;
  result.limit = busy.limit;
  result.cycles = busy.cycles * residents;

  const bool prefetched = phase.ring > 1;
  kernel::Chain chain = phase.chain;
  if (prefetched) {
    // Loads run ahead: their latency is paid once, and bounds the rate through the bytes in flight
    // (Little's law).
    result.fill = chain.memory * latency;
    const double port = (work.l2_read.value() + work.l2_write.value()) / chip.core.l2_port.value();
    // One group of warps that loads and multiplies in turn: a load waits for the product that read
    // its buffer, and only other CTAs fill in while it does.
    const double chain_turn = chain.turn.value();
    const double product =
        chain_turn > 0
            ? std::max(tensor_cycles(work, chip.core),
                       work.shared_read.value() / chip.core.shared_bandwidth.value())
            : 0;
    const double in_flight =
        chain.memory > 0 ? chain_turn + (chain.memory * latency + port + product) /
                                                    static_cast<double>(phase.ring - 1)
                         : 0;
    chain.memory = 0;
    chain.turn = {};
    const double alone = product > 0 ? chain_turn + product : 0;
    if (std::max(in_flight, alone) > result.cycles) {
      const Limit limit = in_flight > alone ? Limit::InFlight : Limit::Chain;
      result = {std::max(in_flight, alone), result.fill, limit};
    }
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
