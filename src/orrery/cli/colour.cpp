// Colours whole lines by how they begin.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cli/colour.h"

#include <array>

#include "orrery/base/text.h"

namespace orrery::cli {

namespace {

struct Paint {
  std::string_view begins;
  std::string_view escape;  // ECMA-48, select graphic rendition
};

constexpr std::array kPaints = {
    Paint{"time ", "\033[1m"},
    Paint{"speed ", "\033[1m"},
    Paint{"warning: ", "\033[33m"},
    Paint{"not predicted", "\033[33m"},
    Paint{"         does not fit", "\033[31m"},
    Paint{"orrery: ", "\033[31m"},
};
constexpr std::string_view kPlain = "\033[0m";

}  // namespace

std::string coloured(std::string_view text) {
  std::string painted;
  for (const std::string_view line : split_lines(text)) {
    std::string_view escape;
    for (const Paint& paint : kPaints) {
      if (line.starts_with(paint.begins)) {
        escape = paint.escape;
      }
    }
    painted += escape;
    painted += line;
    painted += escape.empty() ? "" : kPlain;
    painted += '\n';
  }
  return painted;
}

}  // namespace orrery::cli
