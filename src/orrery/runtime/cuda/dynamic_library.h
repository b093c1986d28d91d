// A library of the system that is opened at run time, so that building needs none of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "orrery/base/result.h"

namespace orrery::runtime::cuda {

/// Stays loaded as long as a copy lives.
class DynamicLibrary {
 public:
  /// The first of `candidates` (file names or paths) that loads. Error NotFound: what was tried,
  /// and why each failed.
  static Result<DynamicLibrary> open(std::span<const std::string> candidates);

  /// Sets `function` to the library's function `name`. Error NotFound.
  template <class Function>
  Result<void> bind(Function*& function, const char* name) const {
    ORR_TRY(void* const symbol, find(name));
    function = reinterpret_cast<Function*>(symbol);
    return {};
  }

  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(void* handle) const;
  };

  Result<void*> find(const char* name) const;

  std::unique_ptr<void, Close> handle_;
  std::string path_;
};

}  // namespace orrery::runtime::cuda
