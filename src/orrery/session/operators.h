// Operators by name with key=value arguments, as the command line takes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/library/library.h"

namespace orrery::session {

/// One argument of an operator.
struct Key {
  std::string_view name;
  std::string_view preset;  // its value when left out; empty: it has to be given
  std::string_view meaning;
};

struct Operator {
  std::string_view name;
  std::string_view summary;
  std::vector<Key> keys;
};

/// In the order in which they are listed.
const std::vector<Operator>& operators();
const Operator* find_operator(std::string_view name);

/// The call of `name` with arguments like "m=4096". Errors (InvalidInput) list every unknown,
/// missing, repeated or impossible argument at once.
Result<library::Call> parse_call(std::string_view name, std::span<const std::string> arguments);

}  // namespace orrery::session
