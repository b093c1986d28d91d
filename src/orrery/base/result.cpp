// Text of errors.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/result.h"

namespace orrery {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidInput:
      return "InvalidInput";
    case ErrorCode::ParseError:
      return "ParseError";
    case ErrorCode::NotFound:
      return "NotFound";
    case ErrorCode::Unsupported:
      return "Unsupported";
    case ErrorCode::Infeasible:
      return "Infeasible";
    case ErrorCode::IoError:
      return "IoError";
  }
  ORR_UNREACHABLE();
}

std::string bounded_message(std::string message) {
  constexpr std::size_t kMost = 16384;  // hundred lines and more
  if (message.size() <= kMost) {
    return message;
  }
  std::size_t kept = kMost;
  while (kept > 0 && (static_cast<unsigned char>(message[kept]) & 0xC0U) == 0x80U) {
    --kept;  // not within a letter of UTF-8
  }
  const std::size_t more = message.size() - kept;
  message.resize(kept);
  return message + fmt::format("... ({} more bytes)", more);
}

std::string Error::to_string() const {
  std::string text = message;
  for (const std::string& note : notes) {
    text += "\n  note: ";
    text += note;
  }
  return text;
}

Error Error::with_note(std::string note) const {
  Error copy = *this;
  copy.notes.push_back(std::move(note));
  return copy;
}

}  // namespace orrery
