// Messages of failed checks.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/check.h"

namespace orrery::detail {
namespace {

// The path from the include root on, so that a message does not depend on where the tree lies.
std::string_view from_include_root(std::string_view file) {
  const size_t root = file.rfind("src/orrery/");
  return root == std::string_view::npos ? file : file.substr(root + 4);
}

}  // namespace

CheckMessage::CheckMessage(std::string_view file, int line, std::string_view condition)
    : text_(fmt::format("{}:{}: check failed: {}", from_include_root(file), line, condition)) {}

void CheckMessage::append(std::string_view part) {
  if (!has_message_) {
    text_ += ": ";
    has_message_ = true;
  }
  text_ += part;
}

void CheckThrower::operator&(const CheckMessage& message) const {
  throw InternalError(message.text());
}

void throw_unreachable(std::string_view file, int line) {
  throw InternalError(
      fmt::format("{}:{}: reached what must be unreachable", from_include_root(file), line));
}

}  // namespace orrery::detail
