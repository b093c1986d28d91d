// Recurrent layers between their projections: delta rules, lightning attention, Mamba.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "state_mix": StateMixCall. Prefill: chunk_delta.h, chunk_scan.h; decode is one kernel
/// that reads and writes every sequence's state.
std::unique_ptr<Family> read_state_mix(machine::NumberFile& file);

}  // namespace orrery::library
