// Reads the plain form of number files in one walk over the text.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <utility>

#include "orrery/machine/leaves.h"

namespace orrery::machine {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_bare(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/// Without a way out in the middle, which would keep the compiler from taking many bytes at once.
bool is_printable(std::string_view text) {
  unsigned char other = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    other |= static_cast<unsigned char>((byte < ' ' || byte > '~') && byte != '\n' ? 1 : 0);
  }
  return other == 0;
}

/// Of a year without a leap day: the other reader knows the calendar.
bool is_day(int month, int day) {
  constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month >= 1 && month <= 12 && day >= 1 && day <= kDays[static_cast<size_t>(month - 1)];
}

/// Every step answers whether the text goes on in the plain form.
class PlainReader {
 public:
  explicit PlainReader(std::string_view text) : text_(text) {}

  bool run() {
    while (at_ < text_.size()) {
      skip_spaces();
      const char c = peek();
      const bool blank = c == '\n' || c == '#' || c == '\0';
      if (!(blank || (c == '[' ? header() : leaf())) || !end_line()) {
        return false;
      }
    }
    return std::none_of(leaves_.begin(), leaves_.end(), [this](const Leaf& leaf) {
      return tables_.find(leaf.key) != tables_.end();
    });
  }

  std::vector<Leaf> take() && { return std::move(leaves_); }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_spaces() {
    while (peek() == ' ') {
      ++at_;
    }
  }

  bool skip(char c) {
    if (peek() != c) {
      return false;
    }
    ++at_;
    return true;
  }

  /// What is left of a line: a comment at most.
  bool end_line() {
    skip_spaces();
    if (peek() == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
    if (at_ == text_.size()) {
      return true;
    }
    ++line_;
    return skip('\n');
  }

  bool bare_key(std::string_view& key) {
    const size_t first = at_;
    while (is_bare(peek())) {
      ++at_;
    }
    key = text_.substr(first, at_ - first);
    return !key.empty();
  }

  /// [core.tensor], each once.
  bool header() {
    ++at_;
    prefix_.clear();
    size_t parts = 0;
    do {
      std::string_view key;
      if (!bare_key(key) || key == "value" || ++parts >= kMostParts) {
        return false;
      }
      prefix_ += key;
      tables_.insert(prefix_);
      prefix_ += '.';
    } while (skip('.'));
    section_ = leaves_.size();
    return skip(']') && headers_.insert(prefix_).second;
  }

  bool leaf() {
    constexpr size_t kMostOfSection = 512;  // each is compared with all
    std::string_view key;
    if (!bare_key(key) || leaves_.size() - section_ > kMostOfSection) {
      return false;
    }
    for (size_t i = section_; i < leaves_.size(); ++i) {
      if (std::string_view(leaves_[i].key).substr(prefix_.size()) == key) {
        return false;
      }
    }
    Leaf leaf{.key = prefix_ + std::string(key), .line = line_, .content = {}};
    skip_spaces();
    if (!skip('=')) {
      return false;
    }
    skip_spaces();
    // A value, or a unit that is a text, would make the table a number that is written in lines.
    if (key == "value" || (key == "unit" && peek() == '"') || !content(leaf)) {
      return false;
    }
    leaves_.push_back(std::move(leaf));
    return true;
  }

  bool content(Leaf& leaf) {
    if (peek() == '"') {
      return text(leaf.content.emplace<std::string>());
    }
    if (peek() == '[') {
      return list(leaf.content.emplace<std::vector<std::string>>());
    }
    Number& number = leaf.content.emplace<Number>();
    number.key = leaf.key;
    return table(number);
  }

  bool text(std::string& into) {
    if (!skip('"')) {
      return false;
    }
    const size_t end = text_.find('"', at_);
    if (end == std::string_view::npos) {
      return false;
    }
    into = text_.substr(at_, end - at_);
    at_ = end + 1;
    return into.find('\\') == std::string::npos && into.find('\n') == std::string::npos;
  }

  /// Spaces, comments and ends of lines, as they may stand inside of a list.
  bool skip_lines() {
    skip_spaces();
    while (peek() == '\n' || peek() == '#') {
      if (!end_line()) {
        return false;
      }
      skip_spaces();
    }
    return true;
  }

  bool list(std::vector<std::string>& into) {
    ++at_;
    for (;;) {
      if (!skip_lines()) {
        return false;
      }
      if (skip(']')) {
        return true;
      }
      if (!text(into.emplace_back()) || !skip_lines()) {
        return false;
      }
      if (!skip(',') && peek() != ']') {
        return false;
      }
    }
  }

  /// { value = 60, unit = "MB", source = "measured", date = 2026-08-21, note = "..." }
  bool table(Number& number) {
    if (!skip('{')) {
      return false;
    }
    unsigned seen = 0;
    do {
      skip_spaces();
      std::string_view name;
      if (!bare_key(name)) {
        return false;
      }
      skip_spaces();
      if (!skip('=')) {
        return false;
      }
      skip_spaces();
      const unsigned bit = field(name, number);
      if (bit == 0 || (seen & bit) != 0) {
        return false;
      }
      seen |= bit;
      skip_spaces();
    } while (skip(','));
    constexpr unsigned kNeeded = kValue | kUnit | kSource | kDate;
    return skip('}') && (seen & kNeeded) == kNeeded && !number.unit.empty();
  }

  static constexpr unsigned kValue = 1;
  static constexpr unsigned kUnit = 2;
  static constexpr unsigned kSource = 4;
  static constexpr unsigned kNote = 8;
  static constexpr unsigned kDate = 16;

  /// Which one it was; 0 for none of them.
  unsigned field(std::string_view name, Number& number) {
    if (name == "value") {
      return value(number.value) ? kValue : 0;
    }
    if (name == "unit") {
      return text(number.unit) ? kUnit : 0;
    }
    if (name == "note") {
      return text(number.note) ? kNote : 0;
    }
    if (name == "date") {
      return date(number.date) ? kDate : 0;
    }
    std::string source;
    if (name != "source" || !text(source)) {
      return 0;
    }
    const auto known = parse_source(source);
    number.source = known.value_or(Source::Assumed);
    return known ? kSource : 0;
  }

  bool digits() {
    const size_t first = at_;
    while (is_digit(peek())) {
      ++at_;
    }
    return at_ > first;
  }

  /// -12.5e-3, without needless zeros in front.
  bool value(double& into) {
    constexpr size_t kMostDigits = 15;  // of a whole number that is exact as a double
    const size_t first = at_;
    skip('-');
    const size_t whole = at_;
    if (!digits() || (text_[whole] == '0' && at_ - whole > 1) || at_ - whole > kMostDigits) {
      return false;
    }
    const size_t end_of_whole = at_;
    if (skip('.') && !digits()) {
      return false;
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '-' || peek() == '+') {
        ++at_;
      }
      if (!digits()) {
        return false;
      }
    }
    const char* const begin = text_.data() + first;
    const char* const end = text_.data() + at_;
    if (at_ == end_of_whole) {  // -0 is 0 then
      int64_t number = 0;
      std::from_chars(begin, end, number);
      into = static_cast<double>(number);
      return true;
    }
    const auto [stop, error] = std::from_chars(begin, end, into);
    return error == std::errc() && stop == end;
  }

  bool date(std::string& into) {
    constexpr std::string_view kForm = "dddd-dd-dd";
    const std::string_view date = text_.substr(at_, kForm.size());
    const bool fits = date.size() == kForm.size() &&
                      std::equal(date.begin(), date.end(), kForm.begin(), [](char c, char form) {
                        return form == 'd' ? is_digit(c) : c == form;
                      });
    if (!fits || date[0] == '0') {
      return false;
    }
    const auto two = [&date](size_t at) { return (date[at] - '0') * 10 + (date[at + 1] - '0'); };
    if (!is_day(two(5), two(8))) {
      return false;
    }
    into = date;
    at_ += kForm.size();
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
  std::string prefix_;  // "core.tensor."
  size_t section_ = 0;  // of the leaves: the first under the header
  std::set<std::string, std::less<>> headers_;
  std::set<std::string, std::less<>> tables_;  // and what headers begin with
  std::vector<Leaf> leaves_;
};

}  // namespace

std::optional<std::vector<Leaf>> read_plain(std::string_view text) {
  PlainReader reader(text);
  if (!is_printable(text) || !reader.run()) {
    return std::nullopt;
  }
  return std::move(reader).take();
}

}  // namespace orrery::machine
