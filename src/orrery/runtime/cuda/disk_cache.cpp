// Files by name in a folder that several processes share: see disk_cache.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/cuda/disk_cache.h"

#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <thread>

namespace orrery::runtime::cuda {

namespace fs = std::filesystem;

std::optional<std::string> DiskCache::read(std::string_view name) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(folder_ / name, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return std::nullopt;
  return bytes;
}

void DiskCache::write(std::string_view name, std::string_view bytes) const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return;
  // Unique among the threads of all processes of this host.
  const fs::path draft =
      folder_ /
      fmt::format(
          "{}.{}.{}", name, getpid(), std::hash<std::thread::id>{}(std::this_thread::get_id()));
  std::ofstream file(draft, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) fs::rename(draft, folder_ / name, error);
  if (!file || error) fs::remove(draft, error);
}

}  // namespace orrery::runtime::cuda
