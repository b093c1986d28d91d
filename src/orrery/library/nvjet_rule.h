// The rule by which cuBLAS takes an nvjet kernel: its own estimate of each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "orrery/library/nvjet_kernel.h"
#include "orrery/machine/machine.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

// cuBLAS compares kernels by an estimate that is simpler than ours, and takes the best by it even
// where another would be faster. In clocks, for a product of tiles a x b, k-steps of s bytes a
// row, clusters ca x cb:
//
//     start + waves * (steps * max(matrix, s (a / cb + b / ca) / port, s (a + b) / fill)
//                      + epilogue * a b + wave)
//           + L2 bytes / l2 + operands / dram + (split: split + partials / sum)
//
//     matrix = FLOP of a step / rate * (1 + (wgmma's N no multiple of 64: uneven_64)
//                                         + (none of 16: uneven_16))
//
// waves = ceil(units / SMs), whole; clusters of 4 and 8 fill 120 of 132 SMs. Cut along k are
// products of at most 66 tiles and at least 40 steps, into as many slices as fill one wave and
// keep 20 steps. The form and its constants come from 2,516 choices (kernel names alone, no
// times): the likelihood of each choice among all kernels, a third of the shapes left out. It names
// the very kernel for 45 % of all; by our own model its pick is as fast as the one taken within 2 %
// on average.

/// The constants of the estimate, in clocks and bytes per clock.
struct NvjetRule {
  double start = 0;
  double port = 1;
  double fill = 1;
  double epilogue = 0;
  double wave = 0;
  double l2 = 1;
  double dram = 1;
  double split = 0;
  double sum = 1;
  double uneven_64 = 0;
  double uneven_16 = 0;
};

NvjetRule read_nvjet_rule(machine::NumberFile& file);

/// Sizes of a launch of a kernel.
struct NvjetLaunch {
  double tiles = 0;  // with the batch, rounded up to whole clusters
  int64_t slices = 1;
  int64_t sms = 0;    // that the grid can use
  int64_t steps = 0;  // of a slice
};

NvjetLaunch nvjet_launch(const NvjetKernel& kernel, const GemmCall& call, int64_t sms);

/// What cuBLAS takes for `call`; `tiles` are nvjet_tiles(). Under 0.1 ms.
NvjetKernel nvjet_choice(const GemmCall& call,
                         const std::vector<NvjetTile>& tiles,
                         const NvjetRule& rule,
                         const machine::Chip& chip);

}  // namespace orrery::library
