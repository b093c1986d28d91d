// Fuzz target: whatever parses prints to a text that parses to the same graph.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orrery/base/check.h"
#include "orrery/graph/parse.h"
#include "orrery/graph/print.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto graph = orrery::graph::parse(text);
  if (graph.ok()) {
    const auto again = orrery::graph::parse(orrery::graph::print(*graph));
    ORR_CHECK(again.ok() && *again == *graph) << orrery::graph::print(*graph);
  }
  return 0;
}
