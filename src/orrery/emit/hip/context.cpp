// The HIP emitter's view of a program: fragments' forms and coordinates of elements.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "orrery/emit/hip/context_internal.h"
#include "orrery/emit/hip/types_internal.h"
#include "orrery/emit/index.h"
#include "orrery/emit/naming.h"

namespace orrery::emit::hip {
namespace {

// "lane part + warp part" of a thread's place along an axis, empty if it has none.
std::string thread_part(const FragmentLayout& layout, AxisId axis) {
  const std::string lane = offset_text(layout, axis, Place::Lane, "lane");
  const std::string wave = offset_text(layout, axis, Place::Warp, "wave");
  std::string text = lane == "0" ? "" : " + " + lane;
  if (wave != "0") text += " + " + wave;
  return text;
}

bool always_inside(const Context& context, AxisId id) {
  const kernel::Axis& axis = context.program[id];
  const int64_t multiple = axis.extent.symbol.empty() ? axis.extent.fixed : axis.multiple;
  return multiple % axis.tile == 0;
}

}  // namespace

const kernel::SharedSlot& Context::slot(BufferId buffer) const {
  const auto found = std::find_if(
      plan.slots.begin(), plan.slots.end(), [&](const auto& s) { return s.buffer == buffer; });
  ORR_CHECK(found != plan.slots.end()) << "no shared memory for '" << program[buffer].name << "'";
  return *found;
}

Error unsupported(const Context& context, std::string_view what) {
  return make_error(
      ErrorCode::Unsupported, "[emit.hip] kernel '{}': {}", context.program.name, what);
}

int64_t vector_registers(const kernel::Program& program, BufferId fragment) {
  for (const kernel::Phase& phase : program.phases) {
    for (const kernel::Statement& statement : phase.body) {
      const auto* mma = std::get_if<kernel::Mma>(&statement.op);
      if (mma == nullptr) continue;
      if (mma->acc == fragment) return mma->shape.m * mma->shape.n / 64;
      if (mma->first == fragment || mma->second == fragment) return 4;
    }
  }
  return 1;
}

std::string element(const Context& context, BufferId fragment, std::string_view r) {
  const std::string name = buffer_name(context.program, fragment);
  const int64_t width = vector_registers(context.program, fragment);
  if (width == 1) return fmt::format("{}[{}]", name, r);
  return fmt::format("{}[({}) / {}][({}) % {}]", name, r, width, r, width);
}

std::string corner(const Context& context, AxisId axis) {
  return context.moving.contains(axis) ? corner_name(context.program, axis) : "0";
}

void write_bases(const Context& context,
                 const FragmentLayout& layout,
                 const std::vector<AxisId>& axes,
                 Writer& out) {
  for (const AxisId axis : axes) {
    if (context.program[axis].tile == 1) continue;
    out.line("const int base_{} = {}{};",
             context.program[axis].name,
             corner(context, axis),
             thread_part(layout, axis));
  }
}

std::string coordinate(const Context& context,
                       const FragmentLayout& layout,
                       AxisId axis,
                       std::string_view r) {
  if (context.program[axis].tile == 1) return corner(context, axis);
  const std::string registers = offset_text(layout, axis, Place::Register, r);
  const std::string base = "base_" + context.program[axis].name;
  return registers == "0" ? base : base + " + " + registers;
}

Spot tensor_place(const Context& context,
                  TensorId tensor,
                  const std::vector<std::string>& coordinates) {
  Spot spot;
  const std::vector<AxisId>& axes = context.program[tensor].axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::string extent = extent_name(context.program, axes[i]);
    if (i == 0) {
      spot.offset = axes.size() == 1 ? coordinates[i] : fmt::format("(long)({})", coordinates[i]);
    } else {
      const bool nested = i > 1;
      spot.offset = fmt::format("{}{}{} * {} + {}",
                                nested ? "(" : "",
                                spot.offset,
                                nested ? ")" : "",
                                extent,
                                coordinates[i]);
    }
    if (context.program[axes[i]].tile == 1 || always_inside(context, axes[i])) continue;
    if (!spot.inside.empty()) spot.inside += " && ";
    spot.inside += fmt::format("{} < {}", coordinates[i], extent);
  }
  if (axes.empty()) spot.offset = "0";
  return spot;
}

int64_t access_width(const Context& context, TensorId tensor, int64_t run) {
  const kernel::Tensor& t = context.program[tensor];
  if (t.axes.empty()) return 1;
  const kernel::Axis& axis = context.program[t.axes.back()];
  const int64_t multiple = axis.extent.symbol.empty() ? axis.extent.fixed : axis.multiple;
  int64_t width = 1;
  while (2 * width * bytes_of(t.dtype) <= 16 && run % (2 * width) == 0 &&
         multiple % (2 * width) == 0 && axis.tile % (2 * width) == 0) {
    width *= 2;
  }
  return width;
}

}  // namespace orrery::emit::hip
