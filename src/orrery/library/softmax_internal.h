// Softmax: what a library file says of it, and its forward rule, which cross entropy shares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/library/call.h"
#include "orrery/library/warp_counts.h"

namespace orrery::library {

struct SoftmaxTable {
  CountTable counts;
  double row = 0;        // dependent clocks of a row that one warp holds
  double dependent = 0;  // the same per issue slot of such a warp, beside the slot
  double block = 0;      // dependent clocks of a row that a block of 1024 threads holds
  double backward = 0;   // of a row of the backward block
  double error = 0;
};

SoftmaxTable read_softmax_table(machine::NumberFile& file);

/// The kernel that computes softmax or log-softmax of each row.
kernel::Profile softmax_forward(const RowsCall& call,
                                bool logarithm,
                                const SoftmaxTable& table,
                                const machine::Chip& chip);

}  // namespace orrery::library
