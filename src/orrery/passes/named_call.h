// NamedCall: one of the calls that an operator becomes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "orrery/library/call.h"

namespace orrery::passes {

struct NamedCall {
  std::string suffix;  // of the operator's name; empty: the operator itself
  library::Call call;
};

}  // namespace orrery::passes
