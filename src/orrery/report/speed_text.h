// Tokens per second as people read them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace orrery::report {

/// Whole from a hundred on, else three digits.
std::string speed(double tokens_per_second);

}  // namespace orrery::report
