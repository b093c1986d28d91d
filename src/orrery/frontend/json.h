// JSON as a plain tree, so that the parser's header stays in one file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"

namespace orrery::frontend {

struct JsonMember;

/// A JSON value. Members keep their order; no key comes twice.
struct Json {
  enum class Kind { Null, Bool, Integer, Decimal, String, Array, Object };

  Kind kind = Kind::Null;
  bool boolean = false;
  int64_t integer = 0;  // Integer; numbers beyond int64 are Decimal
  double decimal = 0;   // Integer and Decimal
  std::string string;
  std::vector<Json> items;
  std::vector<JsonMember> members;  // complete below: a pair may not hold what it is part of

  bool is_null() const { return kind == Kind::Null; }

  bool is_object() const { return kind == Kind::Object; }

  /// The member called `key`, or none.
  const Json* find(std::string_view key) const;

  /// As JSON on one line, cut to a few dozen characters: for messages.
  std::string to_text() const;
};

/// A key and its value.
struct JsonMember {
  std::string key;
  Json value;
};

/// Parses strict JSON (RFC 8259). Errors name `origin`, line and column; nesting beyond 64 levels
/// is an error.
Result<Json> parse_json(std::string_view text, std::string_view origin);

}  // namespace orrery::frontend
