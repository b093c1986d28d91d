// A library of the system that is opened at run time: see dynamic_library.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/cuda/dynamic_library.h"

#include <dlfcn.h>

namespace orrery::runtime::cuda {

void DynamicLibrary::Close::operator()(void* handle) const {
  dlclose(handle);
}

Result<DynamicLibrary> DynamicLibrary::open(std::span<const std::string> candidates) {
  std::string reasons;
  // Unloaded, NVRTC loses what its static C++ library has allocated; it stays until the end.
  constexpr int kMode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  for (const std::string& path : candidates) {
    if (void* handle = dlopen(path.c_str(), kMode)) {
      DynamicLibrary library;
      library.handle_.reset(handle);
      library.path_ = path;
      return library;
    }
    const char* reason = dlerror();
    reasons += fmt::format("\n  {}: {}", path, reason != nullptr ? reason : "unknown reason");
  }
  return make_error(ErrorCode::NotFound,
                    "[runtime.cuda] no library could be loaded: got failures for every candidate, "
                    "need one that loads{}",
                    reasons);
}

Result<void*> DynamicLibrary::find(const char* name) const {
  if (void* symbol = dlsym(handle_.get(), name)) return symbol;
  return make_error(ErrorCode::NotFound,
                    "[runtime.cuda] '{}' lacks a function: got no '{}', need a newer version",
                    path_,
                    name);
}

}  // namespace orrery::runtime::cuda
