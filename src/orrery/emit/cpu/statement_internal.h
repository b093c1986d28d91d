// Statements as loops over their elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "orrery/base/result.h"
#include "orrery/emit/writer.h"
#include "orrery/kernel/program.h"

namespace orrery::emit::cpu {

/// Where a statement stands: the program, and the axes that have a current tile (the others are at
/// 0).
struct Scope {
  const kernel::Program& program;
  std::set<kernel::AxisId> moving;
};

/// Appends the loops of one statement.
void write_statement(const Scope& scope, const kernel::Statement& statement, Writer& out);

}  // namespace orrery::emit::cpu
