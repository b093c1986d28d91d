// FlashAttention 2: the time of a block.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/flash_block.h"

#include <cmath>

#include "orrery/library/counts.h"

namespace orrery::library {

FlashBlock read_flash_block(machine::NumberFile& file) {
  return {.tensor_share = file.number("flash.tensor_share", machine::Unit::One),
          .issue_per_score = one(file, "flash.issue_per_score"),
          .pipe_overlap = file.number("flash.pipe_overlap", machine::Unit::One),
          .alone = one(file, "flash.alone")};
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
