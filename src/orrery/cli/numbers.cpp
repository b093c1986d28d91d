// Numbers in options.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cli/numbers.h"

#include <charconv>
#include <cmath>

#include "orrery/base/text.h"

namespace orrery::cli {

Result<int64_t> whole(std::string_view option, std::string_view text, int64_t least, int64_t most) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || value < least || value > most) {
    return make_error(ErrorCode::InvalidInput,
                      "[cli] {}: got '{}', need a whole number from {} to {}",
                      option,
                      text,
                      least,
                      most);
  }
  return value;
}

Result<double> decimal(std::string_view option, std::string_view text) {
  const auto value = parse_double(text);
  if (!value || !std::isfinite(*value)) {
    return make_error(ErrorCode::InvalidInput, "[cli] {}: got '{}', need a number", option, text);
  }
  return *value;
}

}  // namespace orrery::cli
