// Reports of machines: what `orrery machines` prints.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/machine/machine.h"

namespace orrery::report {

/// A line per machine.
std::string to_text(const std::vector<machine::Machine>& machines);
/// Every number of one, with unit, source, date and note.
std::string to_text(const machine::Machine& machine);
/// A page about one, in Markdown: what it is, its peaks, every number by part, its references.
std::string to_page(const machine::Machine& machine);
std::string to_json(const std::vector<machine::Machine>& machines);
std::string to_json(const machine::Machine& machine);

}  // namespace orrery::report
