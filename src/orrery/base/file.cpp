// Reads and writes files by way of the system's own calls, which say what they open.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <random>
#include <system_error>
#include <utility>

namespace orrery {

namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// An open file, closed when it goes.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}

  ~Descriptor() { close(); }

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return number_ >= 0; }

  int number() const { return number_; }

  /// 0, or what went wrong: a full disk may say so only now.
  int close() {
    const int number = std::exchange(number_, -1);
    return number >= 0 && ::close(number) != 0 ? errno : 0;
  }

 private:
  int number_;
};

std::string_view kind(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

Error no_file(const std::string& path, int error) {
  const bool absent = error == ENOENT || error == ENOTDIR;
  return make_error(absent ? ErrorCode::NotFound : ErrorCode::IoError,
                    "[base.file] {}: got {}, need a file that can be read",
                    path,
                    absent ? "no such file" : reason(error));
}

Result<void> check_regular(const std::string& path, const struct stat& status, std::size_t most) {
  if (!S_ISREG(status.st_mode)) {
    return make_error(ErrorCode::IoError,
                      "[base.file] {}: got {}, need a regular file",
                      path,
                      kind(status.st_mode));
  }
  if (std::cmp_greater(status.st_size, most)) {
    return make_error(ErrorCode::IoError,
                      "[base.file] {}: got {} bytes, need at most {}",
                      path,
                      status.st_size,
                      most);
  }
  return {};
}

/// What a call of the system gives, asked again where a signal came between.
template <class Call>
auto again(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

/// 0, or what went wrong.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = again([&] { return ::write(file, text.data(), text.size()); });
    if (written < 0) {
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

Error not_written(const std::string& path, int error) {
  return make_error(ErrorCode::IoError,
                    "[base.file] {}: got '{}', need a place that can be written",
                    path,
                    reason(error));
}

/// Writes to what `path` names; `path` itself stays, whatever it is.
Result<void> write_through(const std::string& path, std::string_view text) {
  constexpr mode_t kMode = 0666;  // less what the process' umask takes
  Descriptor file(again([&] {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, kMode);
  }));
  if (!file.is_open()) {
    return not_written(path, errno);
  }
  const int written = write_all(file.number(), text);
  const int closed = file.close();
  return written != 0 || closed != 0 ? not_written(path, written != 0 ? written : closed)
                                     : Result<void>();
}

/// A name in the folder of `target` that nobody can have foreseen.
std::string temporary_beside(const fs::path& target) {
  std::random_device entropy;
  const std::string name = fmt::format(".orrery-{:08x}{:08x}.part", entropy(), entropy());
  return (target.parent_path() / name).string();
}

/// A new file with the text; its path. `kept` is the mode of the file that it will replace, or 0.
Result<std::string> write_temporary(const fs::path& target, std::string_view text, mode_t kept) {
  constexpr mode_t kMode = 0666;
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    std::string path = temporary_beside(target);
    // The mode comes with the file: nobody reads in between what was private.
    Descriptor file(again([&] { return ::open(path.c_str(), kNew, kept == 0 ? kMode : kept); }));
    if (!file.is_open() && errno == EEXIST) {
      continue;
    }
    if (!file.is_open()) {
      return not_written(target.string(), errno);
    }
    int error = kept != 0 && ::fchmod(file.number(), kept) != 0 ? errno : 0;
    error = error != 0 ? error : write_all(file.number(), text);
    const int closed = file.close();
    if (error == 0 && closed == 0) {
      return path;
    }
    ::unlink(path.c_str());
    return not_written(target.string(), error != 0 ? error : closed);
  }
  return not_written(target.string(), EEXIST);
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    return no_file(path, errno);
  }
  ORR_TRY_VOID(check_regular(path, status, most));
  // It may have become something else since: opening must not wait, and is asked once more.
  constexpr int kRead = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  const Descriptor file(again([&] { return ::open(path.c_str(), kRead); }));
  if (!file.is_open() || ::fstat(file.number(), &status) != 0) {
    return no_file(path, errno);
  }
  ORR_TRY_VOID(check_regular(path, status, most));
  std::string text;
  text.reserve(static_cast<std::size_t>(status.st_size) + 1);
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  const auto block = std::make_unique_for_overwrite<char[]>(kBlock);
  for (;;) {
    const ssize_t got = again([&] { return ::read(file.number(), block.get(), kBlock); });
    if (got < 0) {
      return no_file(path, errno);
    }
    if (got == 0) {
      return text;
    }
    text.append(block.get(), static_cast<std::size_t>(got));
    if (text.size() > most) {  // a file that grows, or one of the system's, whose size is 0
      return make_error(ErrorCode::IoError,
                        "[base.file] {}: got over {} bytes, need at most so many",
                        path,
                        most);
    }
  }
}

Result<void> write_file(const std::string& path, std::string_view text) {
  std::error_code error;
  fs::path target = fs::canonical(path, error);
  struct stat status{};
  if (error) {
    if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
      return write_through(path, text);  // a link to a file that does not exist yet
    }
    target = path;
  } else if (::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return write_through(path, text);
  }
  constexpr mode_t kWritable = S_IWUSR | S_IWGRP | S_IWOTH;
  constexpr mode_t kPermissions = 0777;
  const bool replaces = ::stat(target.c_str(), &status) == 0;
  if (replaces && (status.st_mode & kWritable) == 0) {
    return make_error(
        ErrorCode::IoError, "[base.file] {}: got a file that is read only, need another", path);
  }
  const mode_t kept = replaces ? status.st_mode & kPermissions : 0;
  ORR_TRY(const std::string temporary, write_temporary(target, text, kept));
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    const int failure = errno;
    ::unlink(temporary.c_str());
    return not_written(path, failure);
  }
  return {};
}

}  // namespace orrery
