// Folders, and what paths lead to.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace orrery::session {

namespace fs = std::filesystem;

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
