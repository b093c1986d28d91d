// Files by name in a folder that several processes share: see disk_cache.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/cuda/disk_cache.h"

#include <system_error>

#include "orrery/base/file.h"

namespace orrery::runtime::cuda {

namespace fs = std::filesystem;

std::optional<std::string> DiskCache::read(std::string_view name) const {
  constexpr size_t kMostEntry = size_t{256} << 20;  // a cubin has some 100 KB
  if (folder_.empty()) return std::nullopt;
  Result<std::string> bytes = read_file((folder_ / name).string(), kMostEntry);
  return bytes.ok() ? std::optional(*std::move(bytes)) : std::nullopt;
}

void DiskCache::write(std::string_view name, std::string_view bytes) const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return;
  static_cast<void>(write_file((folder_ / name).string(), bytes));
}

}  // namespace orrery::runtime::cuda
