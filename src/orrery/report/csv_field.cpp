// Quotes fields of CSV.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/csv_field.h"

namespace orrery::report {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    quoted += c == '"' ? "\"" : "";
  }
  return quoted + '"';
}

}  // namespace orrery::report
