// Compares outputs with inputs.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cli/output.h"

#include "orrery/session/files.h"

namespace orrery::cli {

Result<void> check_output(std::string_view option,
                          const std::string& path,
                          const std::vector<std::string>& read) {
  for (const std::string& given : read) {
    const bool is_folder = session::is_folder(given);
    if (!is_folder && !session::is_file(given)) {
      continue;  // a name
    }
    const std::string folder = is_folder ? given : session::folder_of(given);
    const bool same = session::is_same_file(path, given) ||
                      session::is_same_file(path, folder + "/config.json") ||
                      session::is_same_file(path, folder + "/hf_quant_config.json");
    if (same) {
      return make_error(ErrorCode::InvalidInput,
                        "[cli] {}: got {}, which is read as well, need another file",
                        option,
                        path);
    }
  }
  return {};
}

}  // namespace orrery::cli
