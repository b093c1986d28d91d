// Reports of validations: what `orrery validate` prints.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/session/session.h"

namespace orrery::session {

std::string to_text(const std::vector<ValidatedFile>& files);
/// Schema: docs/reference/json.md.
std::string to_json(const std::vector<ValidatedFile>& files);

}  // namespace orrery::session
