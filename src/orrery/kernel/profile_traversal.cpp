// Traversal of a program: its grid's order, and what each load reads along which axes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/kernel/profile_internal.h"

namespace orrery::kernel {
namespace {

std::optional<size_t> place_in(const UnitMap& map, AxisId axis) {
  const auto found = std::find(map.order.begin(), map.order.end(), axis);
  return found != map.order.end() ? std::optional(static_cast<size_t>(found - map.order.begin()))
                                  : std::nullopt;
}

TileOperand operand_of(const Counting& c, TensorId id, AxisId loop) {
  const Tensor& tensor = c.program[id];
  TileOperand operand;
  operand.name = tensor.name;
  operand.tile = tile_sectors(c, id);
  for (const AxisId axis : tensor.axes) {
    if (const auto place = place_in(c.map, axis)) {
      operand.axes.push_back(*place);
    }
    operand.steps = operand.steps || axis == loop;
  }
  return operand;
}

}  // namespace

Traversal count_traversal(const Counting& c) {
  const auto looping = std::find_if(c.program.phases.begin(),
                                    c.program.phases.end(),
                                    [](const Phase& phase) { return phase.loop.has_value(); });
  if (looping == c.program.phases.end()) {
    return {};
  }
  Traversal traversal;
  traversal.order = c.map;
  if (const auto parts = c.program[*looping->loop].parts) {
    traversal.parts = place_in(c.map, *parts);
  }
  for (const Statement& statement : looping->body) {
    if (const auto* load = std::get_if<Load>(&statement.op)) {
      traversal.reads.push_back(operand_of(c, load->from, *looping->loop));
    }
  }
  return traversal;
}

}  // namespace orrery::kernel
