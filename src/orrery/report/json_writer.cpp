// JSON text.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "orrery/base/text.h"

namespace orrery::report {

namespace {

/// Length of the UTF-8 sequence that begins `text`; 0 if it is none (RFC 3629, table 3-7 of
/// Unicode).
size_t sequence_length(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length > text.size()) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  const bool too_short = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool beyond = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return too_short || beyond ? 0 : length;
}

}  // namespace

void JsonWriter::quote(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    const size_t length = sequence_length(text);
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
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
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
