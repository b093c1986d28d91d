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
  bool is_list = false;  // commas belong to its value, and are no list of values to sweep
};

class ArgumentReader;

struct Operator {
  std::string_view name;
  std::string_view summary;
  std::vector<Key> keys;
  /// The call of the arguments; what is wrong with them the reader remembers.
  library::Call (*call)(ArgumentReader& reader) = nullptr;  // none: of kernel families alone
};

// The operators of each family: operators_*.cpp.
std::vector<Operator> gemm_operators();
std::vector<Operator> attention_operators();
std::vector<Operator> conv_operators();
std::vector<Operator> moe_operators();
std::vector<Operator> mixer_operators();
std::vector<Operator> rows_operators();
std::vector<Operator> collective_operators();

/// The key `dtype`, bf16 if left out.
inline constexpr Key kDtypeKey{"dtype", "bf16", "bf16, fp16, fp32, tf32, fp8 ..."};

/// In the order in which they are listed.
const std::vector<Operator>& operators();
const Operator* find_operator(std::string_view name);

/// The call of `name` with arguments like "m=4096". Errors (InvalidInput) list every unknown,
/// missing, repeated or impossible argument at once.
Result<library::Call> parse_call(std::string_view name, std::span<const std::string> arguments);

}  // namespace orrery::session
