// Collecting every reason why a configuration has no kernel, for one error message.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "orrery/base/result.h"

namespace orrery::kernel {

/// Each reason reads "thing: got X, need Y". The text of a reason is made only when it is one.
class Reasons {
 public:
  template <class Text>
  void unless(bool holds, Text&& text) {
    if (!holds) {
      text_ += (text_.empty() ? "" : "; ");
      text_ += std::forward<Text>(text)();
    }
  }

  bool none() const { return text_.empty(); }

  Result<void> result(std::string_view family, std::string_view kernel) const {
    if (text_.empty()) {
      return {};
    }
    return make_error(
        ErrorCode::InvalidInput, "[kernel.{}] no such kernel '{}': {}", family, kernel, text_);
  }

 private:
  std::string text_;
};

}  // namespace orrery::kernel
