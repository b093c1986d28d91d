// Benchmarks: what each measures and how.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/calibrate/gpu.h"
#include "orrery/machine/machine.h"

namespace orrery::calibrate {

/// A number that a benchmark found. One whose key is no number of machine files stands in the
/// report alone.
struct Finding {
  std::string key;  // "l2.latency"
  double value = 0;
  std::string unit;
  std::string note;  // the method

  bool operator==(const Finding&) const = default;
};

using Findings = std::vector<Finding>;

struct Benchmark {
  std::string_view name;
  std::string_view summary;
  bool hopper = false;  // needs instructions of sm_90a
  Result<Findings> (*run)(Gpu& gpu, const machine::Chip& like) = nullptr;
};

/// In the order in which they run: those that heat the chip last.
const std::vector<Benchmark>& benchmarks();

// One a line of the table. `like`: the chip whose numbers stand in for those not measured.
Result<Findings> measure_chip(Gpu& gpu, const machine::Chip& like);
Result<Findings> measure_launch(Gpu& gpu, const machine::Chip& like);
Result<Findings> measure_blocks(Gpu& gpu, const machine::Chip& like);
Result<Findings> measure_hand_off(Gpu& gpu, const machine::Chip& like);
Result<Findings> measure_latency(Gpu& gpu, const machine::Chip& like);
Result<Findings> measure_l2(Gpu& gpu, const machine::Chip& like);
Result<Findings> measure_dram(Gpu& gpu, const machine::Chip& like);
Result<Findings> measure_shared(Gpu& gpu, const machine::Chip& like);
Result<Findings> measure_lanes(Gpu& gpu, const machine::Chip& like);
Result<Findings> measure_copy_engine(Gpu& gpu, const machine::Chip& like);
Result<Findings> measure_warp_mma(Gpu& gpu, const machine::Chip& like);
Result<Findings> measure_tensor(Gpu& gpu, const machine::Chip& like);
Result<Findings> measure_clock(Gpu& gpu, const machine::Chip& like);

}  // namespace orrery::calibrate
