// Static counts of the machine code that the emitters fix: each loop body counted once.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/code_counts.h"
#include "orrery/kernel/profile_internal.h"

namespace orrery::kernel {

CodeCounts count_code(const Counting& counting) {
  return code_counts(counting.program);
}

}  // namespace orrery::kernel
