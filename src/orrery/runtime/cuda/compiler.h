// Compiling emitted CUDA source: NVRTC, opened at run time, with a cache on disk.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/emit/emitter.h"
#include "orrery/runtime/cuda/cubin.h"

namespace orrery::runtime::cuda {

struct CompilerOptions {
  /// Where NVRTC may be, tried before the usual places: environment variable ORRERY_NVRTC (a file),
  /// the loader's path, lib64 of $CUDA_HOME and $CUDA_PATH, /usr/local/cuda/lib64. Files or
  /// folders.
  std::vector<std::string> nvrtc;
  /// Folder of the cache; empty: no cache. Files in it may be deleted at any time and shared
  /// between processes.
  std::filesystem::path cache;
};

/// The folder for caches of this user: $ORRERY_CACHE, $XDG_CACHE_HOME/orrery, ~/.cache/orrery or
/// the temporary folder.
std::filesystem::path default_cache();

/// NVRTC. Needs neither a GPU nor a driver. Copies share the library; may be used from several
/// threads.
class Compiler {
 public:
  /// Error NotFound: no NVRTC, listing what was tried.
  static Result<Compiler> open(const CompilerOptions& options = {});

  /// Machine code of `source`. Cost: about a second the first time, a file read afterwards; the
  /// cache's key is the hash of text, options and NVRTC's version. Errors: InvalidInput with the
  /// compiler's messages.
  Result<Cubin> compile(const emit::Source& source) const;

  /// "13.0"
  const std::string& version() const { return version_; }

  const std::string& path() const;

 private:
  struct Nvrtc;

  Result<std::string> translate(const emit::Source& source) const;

  std::shared_ptr<const Nvrtc> nvrtc_;  // shared by copies of the compiler, immutable
  std::string version_;
  std::filesystem::path cache_;
};

}  // namespace orrery::runtime::cuda
