// Result<T>: a value, or an Error that says what the world did wrong.
// SPDX-License-Identifier: Apache-2.0
//
// A function that can fail through its input returns Result<T>; the compiler rejects a caller that
// ignores it. Bugs are not Results, they are checks (check.h).
//
//   Result<Machine> load_machine(std::string_view text) {
//     ORR_TRY(const auto table, parse_toml(text));          // returns the error, or goes on
//     if (table.empty()) {
//       return make_error(ErrorCode::InvalidInput, "[machine.load] got no tables, need 'chip'");
//     }
//     return Machine(table);
//   }
//
// Messages read "[module.thing] what is wrong: got X, need Y". A caller that knows more adds it:
// `return error.with_note("while reading 'h200.toml'")`.
//
// Why not exceptions: a caller sees in the signature what can fail, and one bad row of a table
// costs no unwinding. Why not std::expected: it is C++23, and the device compilers stop at C++20.
#pragma once

#include <fmt/core.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "orrery/base/check.h"

namespace orrery {

enum class ErrorCode {
  InvalidInput,  // well formed, but a value or a combination makes no sense
  ParseError,    // text that does not follow its grammar
  NotFound,      // a name or a file that does not exist
  Unsupported,   // meaningful, but nothing here can do it
  Infeasible,    // no answer satisfies the constraints (memory, occupancy, divisibility)
  IoError,       // the operating system or a device refused
};

std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::InvalidInput;
  std::string message;
  std::vector<std::string> notes;

  // The message, then one line "  note: ..." each; no newline at the end.
  std::string to_string() const;
  // A copy with one more note, the outermost context last.
  Error with_note(std::string note) const;

  bool operator==(const Error&) const = default;
};

// Of a message that quotes the world at length, the beginning and how much is left out.
std::string bounded_message(std::string message);

template <class... Args>
Error make_error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Error{code, bounded_message(fmt::format(format, std::forward<Args>(args)...)), {}};
}

template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T> && !std::same_as<std::remove_cv_t<T>, Error>);

 public:
  using value_type = T;

  Result(T value)  // NOLINT(google-explicit-constructor): `return value;` is the point
      : state_(std::in_place_index<0>, std::move(value)) {}

  Result(Error error)  // NOLINT(google-explicit-constructor): `return error;` likewise
      : state_(std::in_place_index<1>, std::move(error)) {}

  // What converts to T converts to Result<T>: a literal to a string, a derived to a base pointer.
  template <class U>
    requires(std::convertible_to<U &&, T> && !std::same_as<std::remove_cvref_t<U>, Error> &&
             !std::same_as<std::remove_cvref_t<U>, Result> &&
             !std::same_as<std::remove_cvref_t<U>, T>)
  Result(U&& value)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}

  bool ok() const { return state_.index() == 0; }

  explicit operator bool() const { return ok(); }

  // It is a bug to ask an error for its value: check ok() or use ORR_TRY.
  T& value() & {
    require_value();
    return *std::get_if<0>(&state_);
  }

  const T& value() const& {
    require_value();
    return *std::get_if<0>(&state_);
  }

  T&& value() && {
    require_value();
    return std::move(*std::get_if<0>(&state_));
  }

  T& operator*() & { return value(); }

  const T& operator*() const& { return value(); }

  T&& operator*() && { return std::move(*this).value(); }

  T* operator->() { return &value(); }

  const T* operator->() const { return &value(); }

  const Error& error() const& {
    require_error();
    return *std::get_if<1>(&state_);
  }

  Error&& error() && {
    require_error();
    return std::move(*std::get_if<1>(&state_));
  }

  // Compares values or errors; exists only if T compares.
  bool operator==(const Result&) const = default;

 private:
  void require_value() const { ORR_CHECK(ok()) << std::get_if<1>(&state_)->to_string(); }

  void require_error() const { ORR_CHECK(!ok()) << "this result holds a value"; }

  std::variant<T, Error> state_;
};

// Success without a value is `return {};`.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;

  Result(Error error)  // NOLINT(google-explicit-constructor): `return error;` is the point
      : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }

  explicit operator bool() const { return ok(); }

  void value() const { ORR_CHECK(ok()) << error_->to_string(); }

  const Error& error() const& {
    ORR_CHECK(!ok()) << "this result is a success";
    return *error_;
  }

  Error&& error() && {
    ORR_CHECK(!ok()) << "this result is a success";
    return std::move(*error_);
  }

  bool operator==(const Result&) const = default;

 private:
  std::optional<Error> error_;
};

}  // namespace orrery

#define ORR_DETAIL_JOIN2(a, b) a##b
#define ORR_DETAIL_JOIN(a, b) ORR_DETAIL_JOIN2(a, b)

#define ORR_DETAIL_TRY(result, declaration, ...)      \
  auto result = (__VA_ARGS__);                        \
  if (!result.ok()) return std::move(result).error(); \
  declaration = std::move(result).value()

// Declares (or assigns) the value of a Result, or returns its error from the enclosing function.
#define ORR_TRY(declaration, ...) \
  ORR_DETAIL_TRY(ORR_DETAIL_JOIN(orr_try_, __COUNTER__), declaration, __VA_ARGS__)

// Returns the error of a Result from the enclosing function; drops a value.
#define ORR_TRY_VOID(...)                                          \
  do {                                                             \
    if (auto orr_try_result = (__VA_ARGS__); !orr_try_result.ok()) \
      return std::move(orr_try_result).error();                    \
  } while (false)
