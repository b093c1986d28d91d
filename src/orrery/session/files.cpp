// Reads and writes files.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <vector>

namespace orrery::session {

namespace fs = std::filesystem;

Result<std::string> read_file(const std::string& path, size_t most) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return make_error(ErrorCode::NotFound, "[session.files] {}: no such file", path);
  }
  if (fs::is_directory(status)) {
    return make_error(ErrorCode::IoError, "[session.files] {}: got a folder, need a file", path);
  }
  if (!fs::is_regular_file(status) && !fs::is_fifo(status)) {
    return make_error(ErrorCode::IoError, "[session.files] {}: got a device, need a file", path);
  }
  std::ifstream file(path, std::ios::binary);
  std::string text;
  constexpr size_t kBlock = size_t{1} << 16;
  const auto block = std::make_unique_for_overwrite<char[]>(kBlock);
  while (file && text.size() <= most) {
    file.read(block.get(), kBlock);
    text.append(block.get(), static_cast<size_t>(file.gcount()));
  }
  if (text.size() > most) {
    return make_error(ErrorCode::IoError,
                      "[session.files] {}: got more bytes than {}, need at most so many",
                      path,
                      most);
  }
  if (!file.eof()) {
    return make_error(ErrorCode::IoError, "[session.files] {}: cannot be read", path);
  }
  return text;
}

namespace {

constexpr fs::perms kWritable =
    fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;

/// Writes to what `path` names; `path` itself stays, whatever it is.
Result<void> write_through(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    return make_error(ErrorCode::IoError, "[session.files] {}: cannot be written", path);
  }
  return {};
}

}  // namespace

Result<void> write_file(const std::string& path, std::string_view text) {
  std::error_code error;
  fs::path target = fs::canonical(path, error);
  if (error) {
    if (fs::is_symlink(fs::symlink_status(path, error))) {
      return write_through(path, text);  // a link to a file that does not exist yet
    }
    target = path;
  } else if (!fs::is_regular_file(target, error)) {
    return write_through(path, text);
  }
  std::error_code unknown;
  const bool replaces = fs::exists(target, unknown);
  const fs::perms kept = replaces ? fs::status(target, unknown).permissions() : fs::perms::none;
  if (replaces && (kept & kWritable) == fs::perms::none) {
    return make_error(
        ErrorCode::IoError, "[session.files] {}: got a file that is read only, need another", path);
  }
  const std::string temporary = target.string() + ".part";
  if (const auto written = write_through(temporary, text); !written.ok()) {
    fs::remove(temporary, error);
    return make_error(ErrorCode::IoError, "[session.files] {}: cannot be written", path);
  }
  if (replaces) {
    fs::permissions(temporary, kept, error);
  }
  fs::rename(temporary, target, error);
  if (error) {
    const std::string reason = error.message();
    fs::remove(temporary, error);
    return make_error(
        ErrorCode::IoError, "[session.files] {}: cannot be written: {}", path, reason);
  }
  return {};
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  return fs::exists(one, error) && fs::exists(other, error) && fs::equivalent(one, other, error);
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_directory(path, error);
}

std::vector<std::string> files_in(const std::string& folder, std::string_view suffix) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string path = at->path().string();
    std::error_code lost;  // of what a link names; else the folder has said what the entry is
    if (path.ends_with(suffix) && at->is_regular_file(lost)) {  // a pipe would wait for its writer
      paths.push_back(std::move(path));
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string name_of_folder(const std::string& folder) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(folder, error);
  path = error ? fs::path(folder) : path;
  return path.filename().string();
}

std::string stem_of(const std::string& path) {
  return fs::path(path).stem().string();
}

}  // namespace orrery::session
