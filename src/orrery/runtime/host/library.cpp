// Compiling emitted C++ with the system's compiler, and calling it in this process.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/host/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "orrery/base/file.h"
#include "orrery/base/hash.h"
#include "orrery/base/text.h"

// What a child process inherits (POSIX).
extern char** environ;  // NOLINT

namespace orrery::runtime::host {
namespace {

namespace fs = std::filesystem;

// Runs a program with its output and errors going to `log`; its exit status. No shell takes part.
Result<int> run_process(const std::vector<std::string>& command, const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(
      &actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int failure =
      posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    return make_error(ErrorCode::IoError,
                      "[runtime.host] cannot start '{}': {}",
                      command[0],
                      std::generic_category().message(failure));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

uint64_t key_of(const emit::Source& source, const Toolchain& toolchain) {
  Hasher hasher;
  hasher.add(source.code).add(toolchain.compiler.string());
  for (const std::string& option : source.options) hasher.add(option);
  return hasher.digest();
}

// A folder of this process' own, gone when it goes.
class Workplace {
 public:
  explicit Workplace(const fs::path& cache) : path_((cache / "build-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }

  ~Workplace() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  bool exists() const { return !path_.empty(); }

  fs::path operator/(std::string_view name) const { return fs::path(path_) / name; }

 private:
  std::string path_;
};

// Compiles in a folder of its own and renames, so that concurrent builders do not disturb each
// other.
Result<void> compile(const emit::Source& source, const Toolchain& toolchain, const fs::path& out) {
  const auto not_written = [&out](const std::string& reason) {
    return make_error(
        ErrorCode::IoError, "[runtime.host] cannot write '{}': {}", out.string(), reason);
  };
  const Workplace place(toolchain.cache);
  if (!place.exists()) return not_written(std::generic_category().message(errno));
  const fs::path text = place / "source.cpp";
  const fs::path log = place / "log";
  const fs::path object = place / "object.so";
  ORR_TRY_VOID(write_file(text.string(), source.code));
  std::vector<std::string> command = {toolchain.compiler.string(), "-shared", "-fPIC"};
  command.insert(command.end(), source.options.begin(), source.options.end());
  command.insert(command.end(), {"-o", object.string(), text.string()});
  ORR_TRY(const int status, run_process(command, log));
  if (status != 0) {
    const Result<std::string> messages = read_file(log.string());
    return make_error(ErrorCode::IoError,
                      "[runtime.host] '{}' failed with status {}: {}",
                      fmt::join(command, " "),
                      status,
                      messages.ok() ? *messages : messages.error().message);
  }
  std::error_code error;
  fs::rename(object, out, error);
  return error ? Result<void>(not_written(error.message())) : Result<void>();
}

}  // namespace

Result<fs::path> find_compiler() {
  const char* path = std::getenv("PATH");
  for (const std::string_view name : {"c++", "g++", "clang++"}) {
    for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
      const fs::path candidate = fs::path(folder) / name;
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
  }
  return make_error(ErrorCode::NotFound,
                    "[runtime.host] no C++ compiler on the PATH: need one of c++, g++, clang++");
}

void Library::Close::operator()(void* handle) const {
  dlclose(handle);
}

Result<Library> Library::build(const emit::Source& source, const Toolchain& toolchain) {
  std::error_code error;
  fs::create_directories(toolchain.cache, error);
  if (error) {
    return make_error(ErrorCode::IoError,
                      "[runtime.host] cannot create '{}': {}",
                      toolchain.cache.string(),
                      error.message());
  }
  const fs::path path =
      toolchain.cache / fmt::format("{}_{:016x}.so", source.entry, key_of(source, toolchain));
  if (!fs::exists(path)) ORR_TRY_VOID(compile(source, toolchain, path));
  Library library;
  library.handle_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library.handle_ == nullptr) {
    return make_error(ErrorCode::IoError, "[runtime.host] cannot load: {}", dlerror());
  }
  void* symbol = dlsym(library.handle_.get(), (source.entry + "_packed").c_str());
  if (symbol == nullptr) {
    return make_error(ErrorCode::IoError,
                      "[runtime.host] '{}' lacks the function: need {}_packed",
                      path.string(),
                      source.entry);
  }
  library.function_ = reinterpret_cast<Function>(symbol);
  return library;
}

}  // namespace orrery::runtime::host
