// Files: the only place of the core that opens them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"

namespace orrery::session {

/// Most bytes of a machine, library or model file (the largest published one has 40 KB), and of a
/// table of measurements.
constexpr size_t kMostText = size_t{4} << 20;
constexpr size_t kMostTable = size_t{1} << 30;

/// The whole file or pipe. Errors: NotFound, or IoError for a folder, a device, more than `most`
/// bytes, or what the system refuses.
Result<std::string> read_file(const std::string& path, size_t most = kMostText);

/// Writes a file by way of a temporary one beside it, so that a failure leaves the old file whole.
/// A link is followed, and what is no file (a device, a pipe) is written to and stays what it is.
Result<void> write_file(const std::string& path, std::string_view text);

/// Do both paths lead to one existing file?
bool is_same_file(const std::string& one, const std::string& other);

bool is_folder(const std::string& path);
bool is_file(const std::string& path);

/// Files of a folder whose names end in `suffix`, as full paths, sorted; none if there is no such
/// folder.
std::vector<std::string> files_in(const std::string& folder, std::string_view suffix);

/// "models/x.json" -> "models" and "x"; the folder of a bare name is ".".
std::string folder_of(const std::string& path);
/// "models/qwen-2.5/" -> "qwen-2.5"; "." -> the current folder's name.
std::string name_of_folder(const std::string& folder);
std::string stem_of(const std::string& path);

}  // namespace orrery::session
