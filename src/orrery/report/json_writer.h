// Writes JSON, indented, in the order of the calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/quantity.h"

namespace orrery::report {

/// Reports know what they write in which order, so there is no tree:
///
///     JsonWriter json;
///     json.begin_object().member("time_us", 8.5).key("terms").begin_array() ...
///     .end_array().end_object();
///
/// Strings are escaped, and bytes that are no UTF-8 replaced; numbers are the shortest that read
/// back the same; what is not finite is null.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }

  JsonWriter& end_object() { return close('}'); }

  JsonWriter& begin_array() { return open('['); }

  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);

  JsonWriter& value(const char* text) { return value(std::string_view(text)); }

  JsonWriter& value(bool value);
  JsonWriter& value(double value);
  JsonWriter& value(int64_t value);

  /// In microseconds.
  JsonWriter& value(Duration time) { return value(time.microseconds()); }

  template <class T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  /// The text, with a newline at the end.
  std::string text() const { return text_ + '\n'; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  void quote(std::string_view text);

  std::string text_;
  std::vector<bool> filled_;  // of every open bracket: has it members
  bool after_key_ = false;
};

}  // namespace orrery::report
