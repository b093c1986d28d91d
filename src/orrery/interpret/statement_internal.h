// Statements made ready to run: axes resolved to strides once, executed for every tile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "orrery/base/result.h"
#include "orrery/interpret/tile_internal.h"

namespace orrery::interpret {

/// Runs one statement at the state's current origin.
using Runner = std::function<void(State&)>;

/// Checks a statement's operands against each other and prepares it. Each kind has its own file.
Result<Runner> prepare(const kernel::Program& program, const kernel::Load& load);
Result<Runner> prepare(const kernel::Program& program, const kernel::Store& store);
Result<Runner> prepare(const kernel::Program& program, const kernel::Map& map);
Result<Runner> prepare(const kernel::Program& program, const kernel::Reduce& reduce);
Result<Runner> prepare(const kernel::Program& program, const kernel::Mma& mma);

}  // namespace orrery::interpret
