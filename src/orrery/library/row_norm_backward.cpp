// PyTorch's backward of layer and RMS norm: ATen/native/cuda/layer_norm_kernel.cu.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include "orrery/library/counts.h"
#include "orrery/library/row_norm_internal.h"

namespace orrery::library {

using kernel::Profile;
using kernel::ProfilePhase;

namespace {

// layer_norm_grad_input_kernel(_vectorized): a row is a block of 128 threads, which walks gradient
// and input twice, 4 elements a thread; scalar accesses where columns do not come in fours.
Profile input_gradient(const RowsCall& call, const NormTable& table, const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const std::string name = call.op.starts_with("layer") ? "layer" : "rms";
  const bool vectors = call.cols % 4 == 0;
  const double rows = product(call.rows);
  const double row = product(call.cols, size);
  const Walk walk{.cols = product(call.cols)};
  Profile profile = resident_kernel(
      vectors ? "layer_norm_grad_input_kernel_vectorized" : "layer_norm_grad_input_kernel",
      "row_norm",
      chip,
      {128, 32});
  const InFlight flight = in_flight(profile, rows, 2 * row, chip);
  const WarpCounts trip =
      table.counts.of(vectors ? name + "_backward_trip" : "backward_scalar_trip", call.dtype);
  ProfilePhase unit;
  unit.name = "row";
  unit.work = work_of(table.counts.of(name + "_backward", call.dtype), 4);
  unit.chain.fixed = Cycles(table.chain.at("backward_row"));
  ProfilePhase trips;
  trips.name = "walk";
  trips.trips = walk.trips();
  trips.work = work_of((walk.warp_trips() / walk.trips()) * trip, 1);
  trips.work.l2_read = Bytes(2 * row / walk.trips() * (flight.beyond_l1 ? 2 : 1));
  trips.work.l2_write = Bytes(row / walk.trips());
  // The second walk of scalar accesses goes 128 elements at a time, four for one of the first; of
  // fp32 the compiler loads four together.
  const double again = vectors || size >= 4 ? 1 : 4;
  trips.chain.memory = 1 + again * flight.lost;
  trips.chain.l2 = flight.beyond_l1 ? again * (1 - flight.lost) : 0;
  trips.chain.fixed = Cycles(table.chain.at(vectors ? "backward_trip" : "backward_scalar_trip"));
  set_units(profile, {{rows, {trips, unit}}});
  profile.traffic = streamed(2 * rows * row, rows * row);
  profile.traffic.dram_read = Bytes(2 * rows * row * (1 + flight.lost));
  profile.reasons = {"a block of 128 threads a row (layer_norm_kernel.cu)"};
  return profile;
}

// GammaBetaBackwardCUDAKernelTemplate: a block of 32 columns walks all rows. Its height and the
// rows of a step follow from the number of rows (LaunchGammaBetaBackwardCUDAKernel).
Profile weight_gradient(const RowsCall& call, const NormTable& table, const machine::Chip& chip) {
  struct Tile {
    int64_t below;  // rows
    double height;
    double step;
  };

  constexpr Tile kTiles[] = {{64, 1, 8}, {128, 8, 64}, {256, 16, 128}};
  Tile tile{0, 32, 256};
  for (const Tile& each : kTiles) {
    if (call.rows < each.below) {
      tile = each;
      break;
    }
  }
  const double size = element_size(call.dtype).value();
  const double rows = product(call.rows);
  const double cols = product(call.cols);
  const std::string name = call.op.starts_with("layer") ? "gamma_beta" : "gamma";
  Profile profile =
      resident_kernel("GammaBetaBackwardCUDAKernelTemplate",
                      "row_norm",
                      chip,
                      {static_cast<int64_t>(32 * tile.height), 32, tile.height * 264});
  profile.behaviour.streams = static_cast<int64_t>(std::min(4.0, tile.height));
  const double trips = std::ceil(rows / tile.step);
  ProfilePhase walk;
  walk.name = "rows";
  walk.trips = trips;
  walk.work = work_of(table.counts.of(name + "_trip", call.dtype), tile.height);
  walk.work.l2_read = Bytes(2 * 32 * size * std::min(rows, tile.step));
  walk.chain.memory = 1;
  walk.chain.fixed = Cycles(table.chain.at("gamma_trip"));
  ProfilePhase sum;
  sum.name = "sum";
  sum.work = work_of(table.counts.of(name, call.dtype), tile.height);
  set_units(profile, {{std::ceil(cols / 32), {walk, sum}}});
  const double read = 2 * rows * cols * size;
  profile.traffic = streamed(read, 2 * cols * size);
  profile.traffic.scratch_read = Bytes(read);  // the kernel before has read the same
  profile.traffic.recent_read = Bytes(0.0);
  profile.reasons = {"a block per 32 columns walks all rows (layer_norm_kernel.cu)"};
  return profile;
}

}  // namespace

std::vector<Profile> layer_norm_backward(const RowsCall& call,
                                         const NormTable& table,
                                         const machine::Chip& chip) {
  return {input_gradient(call, table, chip), weight_gradient(call, table, chip)};
}

}  // namespace orrery::library
