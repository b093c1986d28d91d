// Fuzzer of the text form: any bytes are read or refused, and what is read survives a round trip
// and the verifier.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "orrery/base/check.h"
#include "orrery/kernel/parse.h"
#include "orrery/kernel/print.h"
#include "orrery/kernel/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::kernel;
  const auto program = parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!program.ok()) return 0;
  const std::string text = print(*program);
  const auto again = parse(text);
  ORR_CHECK(again.ok()) << again.error().to_string() << "\n" << text;
  ORR_CHECK(*again == *program) << text;
  ORR_CHECK(print(*again) == text) << text;
  const auto verified = verify(*program);
  ORR_CHECK(verified.ok() || !verified.error().notes.empty());
  return 0;
}
