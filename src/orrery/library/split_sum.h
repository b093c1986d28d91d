// The kernel that adds the slices of a product cut along k: cublasLt::splitKreduce_kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/quantity.h"
#include "orrery/kernel/profile.h"
#include "orrery/library/call.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

// Blocks of 32 x 16 threads; a thread owns an element of C and walks its slices, which the kernel
// before has just written, so they lie in L2. 131 slices of 63 x 207 take 6.3 us, 2 slices 1.5.

struct SplitSum {
  Duration fixed;
  double trip = 0;  // clocks of a slice, dependent
};

/// Section "split_sum".
SplitSum read_split_sum(machine::NumberFile& file);

/// `partial` and `out`: bytes of an element of a slice and of C.
kernel::Profile split_sum_profile(
    const GemmCall& call, int64_t slices, double partial, double out, const SplitSum& sum);

}  // namespace orrery::library
