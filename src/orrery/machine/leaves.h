// Leaves of a number file: its numbers, texts and lists under their dotted keys, and two readers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/machine/machine.h"

namespace orrery::machine {

// A prediction reads some thirty number files before it can begin, and a full TOML reader takes
// most of its time. Nearly all such files are written in one plain form:
//
//     id = "h200-sxm"                                              # one key, one line
//     [l2]
//     capacity = { value = 60, unit = "MB", source = "measured", date = 2026-08-21, note = "..." }
//     tiles = [
//         "64x64", "128x64",
//     ]
//
// printable ASCII, bare keys, tables with a header each, texts without escapes, decimal numbers.
// read_plain takes that form alone and gives up at the first sign of anything else, mistakes
// included; read_toml then reads the text, or says what is wrong with it. Whatever read_plain
// takes, read_toml reads the same.

/// Most parts of a key; those of the tree have up to five.
constexpr size_t kMostParts = 16;

struct Leaf {
  std::string key;
  size_t line = 0;
  /// Nothing: none of the three kinds.
  std::variant<std::monostate, Number, std::string, std::vector<std::string>> content;
  std::string mistake = {};  // what is wrong with it; empty: nothing

  bool operator==(const Leaf&) const = default;
};

/// The leaves in file order; none if the text is not in the plain form.
std::optional<std::vector<Leaf>> read_plain(std::string_view text);

/// The same for all of TOML. Error: not TOML, with line and column; `origin` names the file.
Result<std::vector<Leaf>> read_toml(std::string_view text, std::string_view origin);

/// The source of that name, if there is one.
std::optional<Source> parse_source(std::string_view text);

}  // namespace orrery::machine
