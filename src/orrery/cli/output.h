// Outputs: what is written replaces nothing that was read for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"

namespace orrery::cli {

/// Error (InvalidInput): `path`, which `option` names, is one of the files that `read` leads to,
/// or, where that is a model's folder, one of the files that were read in it.
Result<void> check_output(std::string_view option,
                          const std::string& path,
                          const std::vector<std::string>& read);

}  // namespace orrery::cli
