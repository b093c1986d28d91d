// Compiling emitted C++ with the system's compiler, and calling it in this process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "orrery/base/result.h"
#include "orrery/emit/emitter.h"

namespace orrery::runtime::host {

/// Where a compiler is and where compiled libraries are kept.
struct Toolchain {
  std::filesystem::path compiler;
  std::filesystem::path cache;  // created when needed; safe to delete, safe to share
};

/// The first of c++, g++, clang++ on the PATH. Error NotFound: none.
Result<std::filesystem::path> find_compiler();

/// A loaded shared library; unloaded with the last copy of a function's owner.
class Library {
 public:
  /// Compiles `source` (Source::options are passed on) unless the cache holds the result, then
  /// loads it. A file's name is the hash of text, options and compiler. Errors: IoError with the
  /// compiler's messages.
  static Result<Library> build(const emit::Source& source, const Toolchain& toolchain);

  /// Calls `entry_packed` of the source: `arguments` holds the address of every argument, in the
  /// order of Source::arguments.
  void call(std::span<void*> arguments) const { function_(arguments.data()); }

 private:
  struct Close {
    void operator()(void* handle) const;
  };

  using Function = void (*)(void**);

  std::unique_ptr<void, Close> handle_;
  Function function_ = nullptr;
};

}  // namespace orrery::runtime::host
