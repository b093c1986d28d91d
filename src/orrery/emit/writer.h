// Lines of C++ text, indented by their blocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace orrery::emit {

/// Collects lines; open() begins a block, close() ends it. Braces of plain text need no doubling in
/// raw().
class Writer {
 public:
  explicit Writer(int depth = 0) : depth_(depth) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    raw(fmt::format(format, std::forward<Args>(args)...));
  }

  /// `head {` and one level deeper.
  template <class... Args>
  void open(fmt::format_string<Args...> head, Args&&... args) {
    raw(fmt::format(head, std::forward<Args>(args)...) + " {");
    ++depth_;
  }

  /// `{`: a block without a head.
  void begin() {
    raw("{");
    ++depth_;
  }

  /// `} tail` one level up.
  void close(std::string_view tail = "") {
    --depth_;
    raw("}" + std::string(tail));
  }

  /// `} else {`: ends a block and begins its alternative.
  void otherwise(std::string_view head) {
    --depth_;
    raw("} " + std::string(head) + " {");
    ++depth_;
  }

  /// Text of one line, indented.
  void raw(std::string_view text) {
    if (!text.empty()) {
      text_.append(static_cast<size_t>(depth_) * 2, ' ');
      text_.append(text);
    }
    text_.push_back('\n');
  }

  /// Text as it is, lines and indentation included.
  void paste(std::string_view text) { text_.append(text); }

  int depth() const { return depth_; }

  const std::string& text() const { return text_; }

 private:
  int depth_;
  std::string text_;
};

}  // namespace orrery::emit
