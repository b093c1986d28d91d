// ORR_CHECK: what only a bug in Orrery can make false.
// SPDX-License-Identifier: Apache-2.0
//
// A check states an invariant of the program. When it fails the program is wrong, not its input, so
// it raises InternalError with the position; the core never catches that, the command line and the
// Python binding report it as "bug in orrery". What the world can cause (a bad file, an impossible
// request) is a Result instead: see result.h.
//
//   ORR_CHECK(index < ops.size()) << "operator " << index << " of " << ops.size();
//
// A check costs one predictable branch and stays on in release builds.
#pragma once

#include <fmt/core.h>

#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace orrery {

// Thrown by a failed check; what() is "orrery/base/id.h:31: check failed: x < y: message".
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace detail {

// Collects the text that follows a failed check.
class CheckMessage {
 public:
  CheckMessage(std::string_view file, int line, std::string_view condition);

  template <class T>
  CheckMessage& operator<<(const T& part) {
    if constexpr (std::is_enum_v<T>) {
      append(fmt::format("{}", static_cast<std::underlying_type_t<T>>(part)));
    } else {
      append(fmt::format("{}", part));
    }
    return *this;
  }

  const std::string& text() const { return text_; }

 private:
  void append(std::string_view part);

  std::string text_;
  bool has_message_ = false;
};

// Binds weaker than << and so sees the finished message.
struct CheckThrower {
  [[noreturn]] void operator&(const CheckMessage& message) const;
};

[[noreturn]] void throw_unreachable(std::string_view file, int line);

}  // namespace detail
}  // namespace orrery

#define ORR_CHECK(condition)                       \
  (condition) ? static_cast<void>(0)               \
              : ::orrery::detail::CheckThrower{} & \
                    ::orrery::detail::CheckMessage(__FILE__, __LINE__, #condition)

#define ORR_UNREACHABLE() ::orrery::detail::throw_unreachable(__FILE__, __LINE__)
