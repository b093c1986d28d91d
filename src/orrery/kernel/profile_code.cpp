// Static counts of the machine code that the emitters fix: each loop body counted once.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/profile_internal.h"

namespace orrery::kernel {

CodeCounts count_code(const Counting& counting) {
  CodeCounts code;
  code.shared_bytes = shared_plan(counting.program).total;
  return code;
}

}  // namespace orrery::kernel
