// Scanner: the tokenizer of our text forms, with positions for messages.
// SPDX-License-Identifier: Apache-2.0
//
//   Scanner scan("load a -> tile stages=4", "kernel.parse");
//   ORR_TRY_VOID(scan.expect("load"));
//   ORR_TRY(const std::string_view name, scan.expect_identifier());
//   ORR_TRY_VOID(scan.expect("->"));
//   ...
//   if (!scan.accept("stages")) return scan.error("'stages'");
//     // ParseError "[kernel.parse] line 1, column 14: got 'tile', need 'stages'"
//
// Tokens: identifiers [A-Za-z_][A-Za-z0-9_.]*, integers, decimals (1.5, 2e-3, hex floats 0x1.8p1),
// "strings" with \n \t \" \\, the pairs -> <- += == != <= >= and otherwise single letters. Blanks,
// line ends and // comments separate. "128x64" is 128 then x64; "1..4" is 1 . . 4. A sign is a
// token of its own; expect_integer and expect_number accept it in front.
//
// The scanner and its tokens point into the text, which must outlive them. Scanning is O(length).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "orrery/base/result.h"

namespace orrery {

enum class TokenKind { End, Identifier, Integer, Decimal, String, Punctuation };

// Both count from 1; a column is a byte.
struct Position {
  int line = 1;
  int column = 1;

  auto operator<=>(const Position&) const = default;
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;  // as written, a string with its quotes
  Position position;

  bool is(std::string_view written) const { return kind != TokenKind::String && text == written; }
};

class Scanner {
 public:
  // `context` stands in front of messages, as "module.thing".
  explicit Scanner(std::string_view text, std::string_view context = "text.scan");

  // The next token, without taking it; at the end of the text, a token of kind End.
  const Token& peek() const { return next_; }

  Token next();

  bool at_end() const { return next_.kind == TokenKind::End; }

  Position position() const { return next_.position; }

  // Takes the next token if it is written so (a word or punctuation), and says whether it did.
  bool accept(std::string_view written);

  // Take the next token or fail with a message that names what is needed. On failure nothing is
  // taken.
  Result<void> expect(std::string_view written);
  Result<void> expect_end();
  Result<std::string_view> expect_identifier();
  Result<std::int64_t> expect_integer();
  Result<double> expect_number();  // an integer, a decimal, inf or nan
  Result<std::string> expect_string();

  // "[context] line 3, column 7: got 'x', need <need>", at the next token.
  Error error(std::string_view need) const;
  // "[context] line 3, column 7: <message>", at a position of the caller's.
  Error error_at(Position position, std::string_view message) const;

 private:
  struct Signed {
    bool negative = false;
    Token digits;
  };

  void skip_blanks();
  void advance(std::size_t length);
  Token scan_token();
  std::size_t token_length(TokenKind& kind) const;
  Signed peek_signed() const;
  void take_signed(const Signed& number);

  std::string_view rest_;
  std::string context_;
  Position here_;
  Token next_;
};

}  // namespace orrery
