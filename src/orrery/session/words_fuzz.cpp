// Fuzz target: no words of the command line crash: ranges, requests, an operator's arguments.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/session/model_options.h"
#include "orrery/session/operators.h"
#include "orrery/session/range.h"
#include "orrery/session/requests.h"

namespace {

using Words = std::vector<std::string>;

/// The lines of a text.
Words lines_of(std::string_view text) {
  Words lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return lines;
}

/// A name and its value, of "name value".
orrery::session::Given split(const std::string& line) {
  const size_t space = line.find(' ');
  return {line.substr(0, space), space == std::string::npos ? "" : line.substr(space + 1)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::session;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr size_t kMostValues = 1000;
  (void)expand_values("option", text, kMostValues).ok();
  (void)parse_requests(text).ok();
  const Words lines = lines_of(text);
  if (lines.empty()) {
    return 0;
  }
  const Words arguments(lines.begin() + 1, lines.end());
  (void)parse_call(lines.front(), arguments).ok();
  std::vector<Given> given;
  for (const std::string& line : arguments) {
    given.push_back(split(line));
  }
  (void)model_request(lines.front(), "machine", given).ok();
  return 0;
}
