// Files: the only place of the core that opens them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"

namespace orrery::session {

/// The whole file. Errors: NotFound, or IoError for a folder, a file above 1 GiB, or what the
/// system refuses.
Result<std::string> read_file(const std::string& path);

/// Writes a file by way of a temporary one beside it, so that a failure leaves the old file whole.
Result<void> write_file(const std::string& path, std::string_view text);

bool is_folder(const std::string& path);
bool is_file(const std::string& path);

/// Files of a folder whose names end in `suffix`, as full paths, sorted; none if there is no such
/// folder.
std::vector<std::string> files_in(const std::string& folder, std::string_view suffix);

/// "models/x.json" -> "models" and "x"; the folder of a bare name is ".".
std::string folder_of(const std::string& path);
std::string stem_of(const std::string& path);

}  // namespace orrery::session
