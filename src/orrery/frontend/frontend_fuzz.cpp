// Fuzz target: no config.json or list of decoders crashes; what is read builds or is refused.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orrery/frontend/decoder_list.h"
#include "orrery/frontend/huggingface.h"
#include "orrery/frontend/model_size.h"
#include "orrery/frontend/module_pattern.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::frontend;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto model = read_huggingface(text, "fuzz"); model.ok()) {
    (void)size_of(*model).ok();
  }
  const size_t half = text.find('\n');
  if (half != std::string_view::npos) {
    (void)matches_module(text.substr(0, half), text.substr(half + 1));
  }
  if (const auto list = read_decoder_list(text, "fuzz"); list.ok()) {
    (void)find_decoder(*list, "fuzz-4L").ok();
  }
  return 0;
}
