// The tokenizer of our text forms.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/scanner.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

#include "orrery/base/text.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 7> kPairs = {"->", "<-", "+=", "==", "!=", "<=", ">="};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool starts_identifier(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool continues_identifier(char c) {
  return starts_identifier(c) || is_digit(c) || c == '.';
}

// The letter at `index`, or NUL past the end.
char at(std::string_view text, std::size_t index) {
  return index < text.size() ? text[index] : '\0';
}

template <class Predicate>
std::size_t skip_while(std::string_view text, std::size_t index, Predicate predicate) {
  while (index < text.size() && predicate(text[index])) {
    ++index;
  }
  return index;
}

// Past "e+12" or "p-3" if one stands at `index`, else `index`.
std::size_t skip_exponent(std::string_view text, std::size_t index, char lower, char upper) {
  if (at(text, index) != lower && at(text, index) != upper) {
    return index;
  }
  const char sign = at(text, index + 1);
  const std::size_t digits = index + (sign == '+' || sign == '-' ? 2 : 1);
  return is_digit(at(text, digits)) ? skip_while(text, digits, is_digit) : index;
}

// Past ".25" if one stands at `index`, else `index`.
template <class Predicate>
std::size_t skip_fraction(std::string_view text, std::size_t index, Predicate is_fraction_digit) {
  const bool fraction = at(text, index) == '.' && is_fraction_digit(at(text, index + 1));
  return fraction ? skip_while(text, index + 1, is_fraction_digit) : index;
}

bool is_hex_number(std::string_view text) {
  return at(text, 0) == '0' && (at(text, 1) == 'x' || at(text, 1) == 'X') &&
         is_hex_digit(at(text, 2));
}

std::size_t number_length(std::string_view text, TokenKind& kind) {
  const bool hex = is_hex_number(text);
  const std::size_t whole = hex ? skip_while(text, 2, is_hex_digit) : skip_while(text, 0, is_digit);
  const std::size_t fraction =
      hex ? skip_fraction(text, whole, is_hex_digit) : skip_fraction(text, whole, is_digit);
  const std::size_t end =
      hex ? skip_exponent(text, fraction, 'p', 'P') : skip_exponent(text, fraction, 'e', 'E');
  kind = end == whole ? TokenKind::Integer : TokenKind::Decimal;
  return end;
}

// Past the closing quote, or 1 (the quote alone) if the line ends first.
std::size_t string_length(std::string_view text, TokenKind& kind) {
  for (std::size_t i = 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      kind = TokenKind::String;
      return i + 1;
    }
  }
  kind = TokenKind::Punctuation;
  return 1;
}

std::optional<std::string> unescape(std::string_view quoted) {
  std::string value;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      value += quoted[i];
      continue;
    }
    switch (quoted[++i]) {
      case 'n':
        value += '\n';
        break;
      case 't':
        value += '\t';
        break;
      case '"':
      case '\\':
        value += quoted[i];
        break;
      default:
        return std::nullopt;
    }
  }
  return value;
}

std::optional<std::int64_t> to_integer(std::string_view digits, bool negative) {
  const bool hex = is_hex_number(digits);
  digits.remove_prefix(hex ? 2 : 0);
  std::uint64_t magnitude = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, status] = std::from_chars(digits.data(), last, magnitude, hex ? 16 : 10);
  const auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (status != std::errc{} || end != last || magnitude > largest + (negative ? 1 : 0)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(negative ? -magnitude : magnitude);
}

}  // namespace

Scanner::Scanner(std::string_view text, std::string_view context)
    : rest_(text), context_(context), next_(scan_token()) {}

Token Scanner::next() {
  const Token taken = next_;
  next_ = scan_token();
  return taken;
}

bool Scanner::accept(std::string_view written) {
  if (at_end() || !next_.is(written)) {
    return false;
  }
  next();
  return true;
}

Result<void> Scanner::expect(std::string_view written) {
  if (!accept(written)) {
    return error(fmt::format("'{}'", written));
  }
  return {};
}

Result<void> Scanner::expect_end() {
  if (!at_end()) {
    return error("the end of the text");
  }
  return {};
}

Result<std::string_view> Scanner::expect_identifier() {
  if (next_.kind != TokenKind::Identifier) {
    return error("a name");
  }
  return next().text;
}

Result<std::int64_t> Scanner::expect_integer() {
  const Signed number = peek_signed();
  if (number.digits.kind != TokenKind::Integer) {
    return error("an integer");
  }
  const auto value = to_integer(number.digits.text, number.negative);
  if (!value) {
    return error("an integer of at most 64 bits");
  }
  take_signed(number);
  return *value;
}

Result<double> Scanner::expect_number() {
  const Signed number = peek_signed();
  const bool numeric = number.digits.kind == TokenKind::Integer ||
                       number.digits.kind == TokenKind::Decimal || number.digits.is("inf") ||
                       number.digits.is("nan");
  if (!numeric) {
    return error("a number");
  }
  const std::optional<double> value = parse_double(number.digits.text);
  if (!value) {
    return error("a number that a double can hold");
  }
  take_signed(number);
  return number.negative ? -*value : *value;
}

Result<std::string> Scanner::expect_string() {
  if (next_.kind != TokenKind::String) {
    return error("a string in double quotes");
  }
  std::optional<std::string> value = unescape(next_.text);
  if (!value) {
    return error("a string whose escapes are \\n \\t \\\" or \\\\");
  }
  next();
  return *std::move(value);
}

Error Scanner::error(std::string_view need) const {
  const std::string got = at_end() ? "the end of the text" : fmt::format("'{}'", next_.text);
  return error_at(next_.position, fmt::format("got {}, need {}", got, need));
}

Error Scanner::error_at(Position position, std::string_view message) const {
  return make_error(ErrorCode::ParseError,
                    "[{}] line {}, column {}: {}",
                    context_,
                    position.line,
                    position.column,
                    message);
}

void Scanner::advance(std::size_t length) {
  for (const char c : rest_.substr(0, length)) {
    here_.column = c == '\n' ? 1 : here_.column + 1;
    here_.line += c == '\n' ? 1 : 0;
  }
  rest_.remove_prefix(length);
}

void Scanner::skip_blanks() {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  for (;;) {
    const std::size_t blanks = rest_.find_first_not_of(kBlanks);
    advance(blanks == std::string_view::npos ? rest_.size() : blanks);
    if (!rest_.starts_with("//")) {
      return;
    }
    const std::size_t comment = rest_.find('\n');
    advance(comment == std::string_view::npos ? rest_.size() : comment);
  }
}

Token Scanner::scan_token() {
  skip_blanks();
  Token token{.kind = TokenKind::End, .text = {}, .position = here_};
  if (rest_.empty()) {
    return token;
  }
  const std::size_t length = token_length(token.kind);
  token.text = rest_.substr(0, length);
  advance(length);
  return token;
}

std::size_t Scanner::token_length(TokenKind& kind) const {
  const char first = rest_.front();
  if (starts_identifier(first)) {
    kind = TokenKind::Identifier;
    return skip_while(rest_, 1, continues_identifier);
  }
  if (is_digit(first)) {
    return number_length(rest_, kind);
  }
  if (first == '"') {
    return string_length(rest_, kind);
  }
  kind = TokenKind::Punctuation;
  for (const std::string_view pair : kPairs) {
    if (rest_.starts_with(pair)) {
      return pair.size();
    }
  }
  return 1;
}

Scanner::Signed Scanner::peek_signed() const {
  if (!next_.is("-") && !next_.is("+")) {
    return {.negative = false, .digits = next_};
  }
  Scanner ahead = *this;
  ahead.next();
  return {.negative = next_.is("-"), .digits = ahead.next_};
}

void Scanner::take_signed(const Signed& number) {
  if (number.digits.position != next_.position) {
    next();
  }
  next();
}

}  // namespace orrery
