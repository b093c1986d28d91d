// What a prediction was made with, as people read it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "orrery/report/prediction.h"

namespace orrery::report {

/// The libraries and their versions, each once: the first six, and how many more.
std::string libraries_text(const Setting& setting);

}  // namespace orrery::report
