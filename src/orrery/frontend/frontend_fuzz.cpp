// Fuzz target: no config.json or list of decoders crashes; what is read builds or is refused.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orrery/frontend/decoder_list.h"
#include "orrery/frontend/huggingface.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::frontend;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto decoder = read_huggingface(text, "fuzz"); decoder.ok()) {
    (void)decoder_graph(*decoder, Phase::Decode).ok();
  }
  if (const auto list = read_decoder_list(text, "fuzz"); list.ok()) {
    (void)find_decoder(*list, "fuzz-4L").ok();
  }
  return 0;
}
