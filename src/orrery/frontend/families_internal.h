// The parts of the table of families.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "orrery/frontend/families.h"

namespace orrery::frontend {

/// Decoders with RMS norms and gated feed-forwards.
std::span<const Family> llama_families();

/// Those with layer norms, recurrences, encoders, and files of code of their own.
std::span<const Family> other_families();

}  // namespace orrery::frontend
