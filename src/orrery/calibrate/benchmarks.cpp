// The table of benchmarks.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/calibrate/benchmark.h"

namespace orrery::calibrate {

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> kTable = {
      {"chip", "SMs, clock and L2 size as the driver states them", false, measure_chip},
      {"launch", "gaps between kernels, first and cold access", false, measure_launch},
      {"blocks", "interval between starts of blocks", false, measure_blocks},
      {"hand-off", "atomics, flags from SM to SM", false, measure_hand_off},
      {"latency", "dependent loads from L2 and DRAM", false, measure_latency},
      {"l2", "L2 rates, effective capacity, port of an SM", false, measure_l2},
      {"dram", "DRAM reads, writes and their mixture", false, measure_dram},
      {"shared", "shared memory and block barriers", false, measure_shared},
      {"lanes", "fma, integer, special-function and issue rate", false, measure_lanes},
      {"copy-engine", "bulk copies, multicast in clusters", true, measure_copy_engine},
      {"tensor", "wgmma by element type and tile", true, measure_tensor},
      {"warp-mma", "mma.sync by element type", false, measure_warp_mma},
      {"clock", "clock against load, burst and steady", true, measure_clock}};
  return kTable;
}

}  // namespace orrery::calibrate
