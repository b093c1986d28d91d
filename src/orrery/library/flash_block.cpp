// Blocks of mma.sync attention: instructions, clocks.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/flash_block.h"

#include <cmath>

#include "orrery/library/counts.h"

namespace orrery::library {

FlashBlock read_flash_block(machine::NumberFile& file, const std::string& section) {
  return {.tensor_share = file.number(section + ".tensor_share", machine::Unit::One),
          .issue_per_score = one(file, section + ".issue_per_score"),
          .issue_per_row = one(file, section + ".issue_per_row"),
          .issue_stretch = one(file, section + ".issue_stretch"),
          .pipe_overlap = file.number(section + ".pipe_overlap", machine::Unit::One),
          .alone = one(file, section + ".alone")};
}

kernel::PipeWork block_work(const BlockCounts& counts,
                            const FlashBlock& block,
                            DType dtype,
                            const machine::Core& core) {
  constexpr double kBytes = 512;  // of a warp's ldmatrix.x4 or cp.async of 16 bytes a lane
  constexpr double kLanes = 32;
  kernel::PipeWork work;
  work.tensor = counts.tensor;
  work.tensor_type = dtype;
  work.tensor_share = block.tensor_share;
  work.shared_read = counts.operands;
  work.shared_write = counts.loaded;
  const double instructions =
      (counts.operands.value() + counts.loaded.value()) / kBytes + counts.rescaled / kLanes +
      counts.rows * counts.keys * block.issue_per_score + counts.rows * block.issue_per_row;
  const double tensor =
      counts.tensor.value() / (core.tensor.at(dtype).value() * block.tensor_share);
  work.issue = Instructions(static_cast<double>(core.schedulers) * tensor +
                            block.issue_stretch * instructions);
  return work;
}

double shared_cycles(const kernel::PipeWork& work, double pipe_overlap, const machine::Core& core) {
  const double tensor =
      work.tensor.value() / (core.tensor.at(work.tensor_type).value() * work.tensor_share);
  const double shared =
      (work.shared_read.value() + work.shared_write.value()) / core.shared_bandwidth.value();
  const double issue = work.issue.value() / static_cast<double>(core.schedulers);
  return std::pow(std::pow(tensor, pipe_overlap) + std::pow(shared, pipe_overlap) +
                      std::pow(issue, pipe_overlap),
                  1 / pipe_overlap);
}

}  // namespace orrery::library
