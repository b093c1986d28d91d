// Tokens per second as text.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/speed_text.h"

#include <fmt/format.h>

namespace orrery::report {

std::string speed(double tokens_per_second) {
  return tokens_per_second >= 100 ? fmt::format("{:.0f}", tokens_per_second)
                                  : fmt::format("{:.3g}", tokens_per_second);
}

}  // namespace orrery::report
