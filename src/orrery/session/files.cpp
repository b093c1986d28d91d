// Reads and writes files.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace orrery::session {

namespace fs = std::filesystem;

Result<std::string> read_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return make_error(ErrorCode::NotFound, "[session.files] {}: no such file", path);
  }
  if (fs::is_directory(status)) {
    return make_error(ErrorCode::IoError, "[session.files] {}: got a folder, need a file", path);
  }
  constexpr uintmax_t kMost = uintmax_t{1} << 30;
  if (fs::is_regular_file(status) && fs::file_size(path, error) > kMost) {
    return make_error(ErrorCode::IoError, "[session.files] {}: got more than 1 GiB", path);
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || !text) {
    return make_error(ErrorCode::IoError, "[session.files] {}: cannot be read", path);
  }
  return std::move(text).str();
}

Result<void> write_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".part";
  std::error_code error;
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
      fs::remove(temporary, error);
      return make_error(ErrorCode::IoError, "[session.files] {}: cannot be written", path);
    }
  }
  fs::rename(temporary, path, error);
  if (error) {
    const std::string reason = error.message();
    fs::remove(temporary, error);
    return make_error(
        ErrorCode::IoError, "[session.files] {}: cannot be written: {}", path, reason);
  }
  return {};
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
    if (path.ends_with(suffix) && is_file(path)) {
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

std::string stem_of(const std::string& path) {
  return fs::path(path).stem().string();
}

}  // namespace orrery::session
