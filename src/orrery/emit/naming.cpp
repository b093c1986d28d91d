// Names that emitted sources give to the parts of a program.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/naming.h"

#include <fmt/core.h>

#include <algorithm>
#include <variant>

namespace orrery::emit {
namespace {

using kernel::Program;

struct Summarise {
  const Program& program;

  std::string operator()(const kernel::Load& load) const {
    return fmt::format("{} <- {}", program[load.to].name, program[load.from].name);
  }

  std::string operator()(const kernel::Store& store) const {
    return fmt::format("{} <- {}", program[store.to].name, program[store.from].name);
  }

  std::string operator()(const kernel::Map& map) const {
    return fmt::format("{}, element by element", program[map.to].name);
  }

  std::string operator()(const kernel::Reduce& reduce) const {
    const bool sum = reduce.kind == kernel::ReduceKind::Sum;
    return fmt::format("{} = {}", program[reduce.to].name, sum ? "sum" : "max");
  }

  std::string operator()(const kernel::Mma& mma) const {
    return fmt::format(
        "{} += {} x {}", program[mma.acc].name, program[mma.first].name, program[mma.second].name);
  }
};

}  // namespace

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

std::string summary(const Program& program, const kernel::Op& op) {
  return std::visit(Summarise{program}, op);
}

}  // namespace orrery::emit
