// NVRTC, opened at run time: see compiler.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/cuda/compiler.h"

#include <cstdlib>

#include "orrery/base/hash.h"
#include "orrery/runtime/cuda/disk_cache.h"
#include "orrery/runtime/cuda/dynamic_library.h"

namespace orrery::runtime::cuda {

// The few entry points used, as the NVRTC manual declares them; 0 is success.
struct Compiler::Nvrtc {
  using Program = void*;

  DynamicLibrary library;
  int (*version)(int* major, int* minor) = nullptr;
  int (*create)(Program*,
                const char* source,
                const char* name,
                int headers,
                const char* const* header_texts,
                const char* const* header_names) = nullptr;
  int (*compile)(Program, int options, const char* const* texts) = nullptr;
  int (*cubin_size)(Program, size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  const char* (*error_text)(int) = nullptr;
};

namespace {

namespace fs = std::filesystem;

constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

std::vector<std::string> candidates(const CompilerOptions& options) {
  std::vector<std::string> paths;
  if (const char* file = std::getenv("ORRERY_NVRTC"); file != nullptr && *file != '\0') {
    paths.emplace_back(file);
  }
  for (const std::string& place : options.nvrtc) {
    std::error_code ignored;
    if (!fs::is_directory(place, ignored)) {
      paths.push_back(place);
      continue;
    }
    for (const char* name : kNames) paths.push_back((fs::path(place) / name).string());
  }
  for (const char* name : kNames) paths.emplace_back(name);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable); home != nullptr && *home != '\0') {
      for (const char* name : kNames) paths.push_back((fs::path(home) / "lib64" / name).string());
    }
  }
  for (const char* name : kNames) paths.push_back(std::string("/usr/local/cuda/lib64/") + name);
  return paths;
}

Error failure(std::string_view step, std::string_view reason, const std::string& log) {
  return make_error(ErrorCode::InvalidInput,
                    "[runtime.nvrtc] {} failed: got '{}', need source that compiles\n{}",
                    step,
                    reason,
                    log);
}

/// Calls a pair of functions that give a size and then a text.
template <class Size, class Get, class Program>
std::string text_of(Size size, Get get, Program program) {
  size_t bytes = 0;
  if (size(program, &bytes) != 0 || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (get(program, text.data()) != 0) return {};
  return text;
}

}  // namespace

fs::path default_cache() {
  const auto variable = [](const char* name) -> fs::path {
    const char* value = std::getenv(name);
    return value != nullptr ? fs::path(value) : fs::path();
  };
  if (const fs::path own = variable("ORRERY_CACHE"); !own.empty()) return own;
  if (const fs::path xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "orrery";
  if (const fs::path home = variable("HOME"); !home.empty()) return home / ".cache" / "orrery";
  std::error_code ignored;
  return fs::temp_directory_path(ignored) / "orrery";
}

Result<Compiler> Compiler::open(const CompilerOptions& options) {
  const std::vector<std::string> paths = candidates(options);
  ORR_TRY(DynamicLibrary library, DynamicLibrary::open(paths));
  auto nvrtc = std::make_shared<Nvrtc>();
  nvrtc->library = std::move(library);
  const DynamicLibrary& from = nvrtc->library;
  ORR_TRY_VOID(from.bind(nvrtc->version, "nvrtcVersion"));
  ORR_TRY_VOID(from.bind(nvrtc->create, "nvrtcCreateProgram"));
  ORR_TRY_VOID(from.bind(nvrtc->compile, "nvrtcCompileProgram"));
  ORR_TRY_VOID(from.bind(nvrtc->cubin_size, "nvrtcGetCUBINSize"));
  ORR_TRY_VOID(from.bind(nvrtc->cubin, "nvrtcGetCUBIN"));
  ORR_TRY_VOID(from.bind(nvrtc->log_size, "nvrtcGetProgramLogSize"));
  ORR_TRY_VOID(from.bind(nvrtc->log, "nvrtcGetProgramLog"));
  ORR_TRY_VOID(from.bind(nvrtc->destroy, "nvrtcDestroyProgram"));
  ORR_TRY_VOID(from.bind(nvrtc->error_text, "nvrtcGetErrorString"));
  Compiler compiler;
  int major = 0;
  int minor = 0;
  nvrtc->version(&major, &minor);
  compiler.version_ = fmt::format("{}.{}", major, minor);
  compiler.nvrtc_ = std::move(nvrtc);
  compiler.cache_ = options.cache;
  return compiler;
}

const std::string& Compiler::path() const {
  return nvrtc_->library.path();
}

Result<Cubin> Compiler::compile(const emit::Source& source) const {
  Hasher hasher;
  hasher.add(source.code).add(version_);
  for (const std::string& option : source.options) hasher.add(option);
  const DiskCache cache(cache_);
  const std::string name = fmt::format("{}-{:016x}.cubin", source.entry, hasher.digest());
  if (auto bytes = cache.read(name)) {
    auto resources = read_resources(*bytes, source.entry);
    if (resources.ok()) return Cubin{std::move(*bytes), source.entry, *resources};
  }
  ORR_TRY(std::string bytes, translate(source));
  ORR_TRY(const Resources resources, read_resources(bytes, source.entry));
  cache.write(name, bytes);
  return Cubin{std::move(bytes), source.entry, resources};
}

Result<std::string> Compiler::translate(const emit::Source& source) const {
  const Nvrtc& api = *nvrtc_;
  Nvrtc::Program program = nullptr;
  const std::string name = source.entry + ".cu";
  if (const int code =
          api.create(&program, source.code.c_str(), name.c_str(), 0, nullptr, nullptr)) {
    return failure("creating a program", api.error_text(code), "");
  }
  std::vector<const char*> options;
  for (const std::string& option : source.options) options.push_back(option.c_str());
  const int code = api.compile(program, static_cast<int>(options.size()), options.data());
  Result<std::string> result =
      code == 0 ? Result<std::string>(text_of(api.cubin_size, api.cubin, program))
                : failure("compiling '" + source.entry + "'",
                          api.error_text(code),
                          text_of(api.log_size, api.log, program));
  api.destroy(&program);
  return result;
}

}  // namespace orrery::runtime::cuda
