// How deep a ring of tiles may be on a chip.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "orrery/kernel/program.h"
#include "orrery/machine/machine.h"

namespace orrery::kernel {

/// The deepest ring, at most `most`, with which `program` (built with a ring of 2) leaves each of
/// `ctas_per_sm` CTAs its share of a core's shared memory; 0 if not even 2 entries fit.
int64_t deepest_ring(const Program& program,
                     const machine::Chip& chip,
                     int64_t ctas_per_sm,
                     int64_t most);

}  // namespace orrery::kernel
