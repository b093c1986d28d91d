// Files by name in a folder that several processes share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::runtime::cuda {

/// A cache may lose anything at any time and must never hand out half a file: entries are written
/// beside their place and renamed, which replaces a file whole (POSIX rename). What cannot be read
/// or written counts as absent.
class DiskCache {
 public:
  /// An empty folder name: a cache that holds nothing.
  explicit DiskCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::optional<std::string> read(std::string_view name) const;
  void write(std::string_view name, std::string_view bytes) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace orrery::runtime::cuda
