// The parts of the table of families.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "orrery/frontend/families.h"

namespace orrery::frontend {

/// Decoders with RMS norms and gated feed-forwards.
std::span<const Family> llama_families();

/// More of them, without experts and with experts.
std::span<const Family> dense_families();
std::span<const Family> expert_families();

/// More encoders, and encoder-decoders of text.
std::span<const Family> encoder_families();

/// Those with layer norms, recurrences, encoders, and files of code of their own.
std::span<const Family> other_families();

}  // namespace orrery::frontend
