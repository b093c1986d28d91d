// Fuzz target: what the plain reader takes, the full one reads the same.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orrery/base/check.h"
#include "orrery/machine/leaves.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plain = orrery::machine::read_plain(text);
  if (plain) {
    const auto full = orrery::machine::read_toml(text, "fuzz.toml");
    ORR_CHECK(full.ok() && *full == *plain) << text;
  }
  return 0;
}
