// Fuzz target: no library file crashes; what one that reads knows, it answers or refuses.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orrery/library/library.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::library;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto library = Library::parse(text, "fuzz"); library.ok()) {
    const orrery::machine::Chip chip;  // of no rates: every call is refused or has finite counts
    (void)library->candidates(GemmCall{.m = 64, .n = 64, .k = 64}, chip).ok();
  }
  return 0;
}
