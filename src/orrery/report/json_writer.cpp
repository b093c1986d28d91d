// JSON text.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "orrery/base/text.h"

namespace orrery::report {

void JsonWriter::quote(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const char c = text[0];
    if (length == 0) {
      text_ += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (c == '\t') {
      text_ += "\\t";
    } else if (is_control(text)) {
      text_ += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[length - 1]));
    } else {
      text_ += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!filled_.empty()) {
    text_ += filled_.back() ? ",\n" : "\n";
    text_.append(2 * filled_.size(), ' ');
    filled_.back() = true;
  }
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  filled_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  const bool filled = filled_.back();
  filled_.pop_back();
  if (filled) {
    text_ += '\n';
    text_.append(2 * filled_.size(), ' ');
  }
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::value(bool value) {
  separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::value(double value) {
  separate();
  text_ += std::isfinite(value) ? format_double_exact(value) : "null";
  return *this;
}

JsonWriter& JsonWriter::value(int64_t value) {
  separate();
  text_ += fmt::format("{}", value);
  return *this;
}

}  // namespace orrery::report
