// Fuzz target: no machine file crashes; one that reads answers to its own name.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "orrery/base/check.h"
#include "orrery/machine/machine.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::machine;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto machine = parse_machine(text, "fuzz"); machine.ok()) {
    ORR_CHECK(answers_to(*machine, machine->id)) << machine->id;
  }
  return 0;
}
