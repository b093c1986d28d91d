// Names that emitted sources give to the parts of a program.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/naming.h"

#include <algorithm>

namespace orrery::emit {

using kernel::Program;

std::string buffer_name(const Program& program, kernel::BufferId buffer) {
  return program[buffer].name + "_";
}

std::string tensor_name(const Program& program, kernel::TensorId tensor) {
  const bool read = program[tensor].access == kernel::Access::Read;
  return (read ? "in_" : "out_") + program[tensor].name;
}

std::string corner_name(const Program& program, kernel::AxisId axis) {
  return "at_" + program[axis].name;
}

std::string index_name(const Program& program, kernel::AxisId axis) {
  return "i_" + program[axis].name;
}

std::string extent_name(const Program& program, kernel::AxisId axis) {
  const kernel::Extent& extent = program[axis].extent;
  return extent.symbol.empty() ? std::to_string(extent.fixed) : "size_" + extent.symbol;
}

std::vector<std::string> symbols(const Program& program) {
  std::vector<std::string> names;
  for (const kernel::Axis& axis : program.axes) {
    const std::string& symbol = axis.extent.symbol;
    if (!symbol.empty() && std::find(names.begin(), names.end(), symbol) == names.end()) {
      names.push_back(symbol);
    }
  }
  return names;
}

std::vector<Argument> plain_arguments(const Program& program) {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    Argument argument;
    argument.kind = ArgumentKind::Pointer;
    argument.tensor = kernel::TensorId::from_index(i);
    arguments.push_back(argument);
  }
  for (const std::string& symbol : symbols(program)) {
    Argument argument;
    argument.kind = ArgumentKind::Extent;
    argument.symbol = symbol;
    arguments.push_back(argument);
  }
  return arguments;
}

}  // namespace orrery::emit
