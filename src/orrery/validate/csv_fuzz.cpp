// Fuzz target: whatever reads as CSV is written and read back the same.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orrery/base/check.h"
#include "orrery/validate/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::validate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto table = parse_csv(text, "fuzz"); table.ok()) {
    const auto again = parse_csv(to_csv(*table), "again");
    ORR_CHECK(again.ok() && *again == *table) << to_csv(*table);
  }
  return 0;
}
