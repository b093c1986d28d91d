// Folders of files and what paths lead to; base/file.h opens files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/file.h"

namespace orrery::session {

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
