// The kernel families that can be tuned: from arguments to candidate programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/kernel/program.h"
#include "orrery/machine/machine.h"
#include "orrery/session/argument_reader.h"

namespace orrery::session {

/// Candidates of one call: each a sequence of programs under the same extents.
struct Candidates {
  std::vector<std::pair<std::string, std::vector<kernel::Program>>> programs;
  kernel::Extents extents;
};

struct TunedFamily {
  Operator op;
  Result<Candidates> (*candidates)(ArgumentReader& arguments, const machine::Chip& chip) = nullptr;
};

const std::vector<TunedFamily>& tuned_families();

}  // namespace orrery::session
