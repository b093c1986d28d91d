// Copies of the HIP emitter: global memory to LDS through registers, to fragments, and back.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "orrery/emit/hip/statement_internal.h"
#include "orrery/emit/hip/types_internal.h"
#include "orrery/emit/index.h"
#include "orrery/emit/naming.h"

namespace orrery::emit::hip {
namespace {

using kernel::SharedCopy;

std::string staging_name(const Context& context, const kernel::Load& load) {
  return "stage_" + context.program[load.to].name;
}

// Opens the loop over a thread's vectors of a tile and defines each one's place in the tile:
// i_<axis> for every axis. The condition that the vector exists is returned (empty: it always
// does).
std::string open_vectors(const Context& context,
                         const kernel::Load& load,
                         const SharedCopy& copy,
                         Writer& out) {
  out.raw("UNROLL");
  out.open("for (int j = 0; j < {}; ++j)", copy.per_thread);
  out.line("const int v = thread + j * {};", context.threads());
  const int64_t per_row = copy.columns / copy.width;
  const std::vector<AxisId>& axes = context.program[load.to].axes;
  int64_t below = per_row;
  for (size_t i = axes.size(); i-- > 0;) {
    const kernel::Axis& axis = context.program[axes[i]];
    if (i + 1 == axes.size()) {
      out.line("const int i_{} = v % {} * {};", axis.name, per_row, copy.width);
    } else if (axis.tile > 1) {
      out.line("const int i_{} = v / {} % {};", axis.name, below, axis.tile);
      below *= axis.tile;
    }
  }
  const bool ragged = copy.vectors % context.threads() != 0;
  return ragged ? fmt::format("v < {}", copy.vectors) : "";
}

std::vector<std::string> tile_coordinates(const Context& context, const kernel::Load& load) {
  std::vector<std::string> coordinates;
  const std::vector<AxisId>& own = context.program[load.to].axes;
  for (const AxisId axis : context.program[load.from].axes) {
    const bool varies =
        std::find(own.begin(), own.end(), axis) != own.end() && context.program[axis].tile > 1;
    std::string text = corner(context, axis);
    if (varies) text += " + " + index_name(context.program, axis);
    coordinates.push_back(std::move(text));
  }
  return coordinates;
}

std::string both(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  return a + " && " + b;
}

// `condition ? value : zero`
std::string guarded(const std::string& condition, const std::string& value, std::string_view zero) {
  return condition.empty() ? value : fmt::format("{} ? {} : {}", condition, value, zero);
}

}  // namespace

void declare_staging(const Context& context, const kernel::Load& load, Writer& out) {
  const SharedCopy copy = shared_copy(context.program, load.to, context.threads());
  out.line("{} {}[{}];",
           vector_of(context.program[load.to].dtype, copy.width),
           staging_name(context, load),
           copy.per_thread);
}

void write_fetch(const Context& context, const kernel::Load& load, Writer& out) {
  const SharedCopy copy = shared_copy(context.program, load.to, context.threads());
  const DType type = context.program[load.to].dtype;
  const std::string vector = vector_of(type, copy.width);
  const std::string exists = open_vectors(context, load, copy, out);
  std::vector<std::string> coordinates = tile_coordinates(context, load);
  const std::string tensor = tensor_name(context.program, load.from);
  const std::string target = staging_name(context, load) + "[j]";
  if (access_width(context, load.from, copy.width) == copy.width) {
    const Spot spot = tensor_place(context, load.from, coordinates);
    const std::string value = fmt::format("*(const {}*)({} + {})", vector, tensor, spot.offset);
    out.line("{} = {};", target, guarded(both(exists, spot.inside), value, vector + "{}"));
  } else {  // rows may start anywhere: element by element
    coordinates.back() += " + e";
    const Spot spot = tensor_place(context, load.from, coordinates);
    out.raw("UNROLL");
    out.line("for (int e = 0; e < {}; ++e) {}[e] = {};",
             copy.width,
             target,
             guarded(both(exists, spot.inside), fmt::format("{}[{}]", tensor, spot.offset), "0"));
  }
  out.close();
}

void write_put(const Context& context,
               const kernel::Load& load,
               std::string_view slot,
               Writer& out) {
  const SharedCopy copy = shared_copy(context.program, load.to, context.threads());
  const kernel::Buffer& buffer = context.program[load.to];
  const kernel::SharedSlot& place = context.slot(load.to);
  const std::string exists = open_vectors(context, load, copy, out);
  std::string row;
  for (size_t i = 0; i + 1 < buffer.axes.size(); ++i) {
    const kernel::Axis& axis = context.program[buffer.axes[i]];
    if (axis.tile == 1) continue;
    row =
        row.empty() ? "i_" + axis.name : fmt::format("({}) * {} + i_{}", row, axis.tile, axis.name);
  }
  const std::string column = "i_" + context.program[buffer.axes.back()].name;
  out.line("{}lds_write(lds + {} + {} * {} + (({}) * {} + {}) * {}, {}[j]);",
           exists.empty() ? "" : fmt::format("if ({}) ", exists),
           place.offset,
           slot,
           place.bytes,
           row.empty() ? "0" : row,
           copy.pitch,
           column,
           bytes_of(buffer.dtype),
           staging_name(context, load));
  out.close();
}

void write_load(const Context& context, const kernel::Load& load, Writer& out) {
  const kernel::Buffer& buffer = context.program[load.to];
  const kernel::Tensor& tensor = context.program[load.from];
  const FragmentLayout& layout = buffer.fragment;
  const int64_t run = tensor.axes.empty() ? 1 : run_along(layout, tensor.axes.back(), 8);
  const int64_t width = access_width(context, load.from, run);
  out.begin();
  write_bases(context, layout, buffer.axes, out);
  out.raw("UNROLL");
  out.open("for (int r = 0; r < {}; r += {})", layout.count(Place::Register), width);
  std::vector<std::string> coordinates;
  for (const AxisId axis : tensor.axes) {
    coordinates.push_back(coordinate(context, layout, axis, "r"));
  }
  const Spot spot = tensor_place(context, load.from, coordinates);
  const std::string name = tensor_name(context.program, load.from);
  const auto converted = [&](const std::string& value) {
    return buffer.dtype == tensor.dtype ? value : stored(buffer.dtype, loaded(tensor.dtype, value));
  };
  if (width == 1) {
    const std::string value = guarded(spot.inside, fmt::format("{}[{}]", name, spot.offset), "0");
    out.line("{} = {};", element(context, load.to, "r"), converted("(" + value + ")"));
  } else {
    const std::string vector = vector_of(tensor.dtype, width);
    const std::string value = fmt::format("*(const {}*)({} + {})", vector, name, spot.offset);
    out.line("const {} x = {};", vector, guarded(spot.inside, value, vector + "{}"));
    out.raw("UNROLL");
    out.line("for (int e = 0; e < {}; ++e) {} = {};",
             width,
             element(context, load.to, "r + e"),
             converted("x[e]"));
  }
  out.close();
  out.close();
}

Result<void> write_store(const Context& context, const kernel::Store& store, Writer& out) {
  if (store.via) return unsupported(context, "a store through a staging buffer");
  const kernel::Buffer& buffer = context.program[store.from];
  const kernel::Tensor& tensor = context.program[store.to];
  const FragmentLayout& layout = buffer.fragment;
  const int64_t run = tensor.axes.empty() ? 1 : run_along(layout, tensor.axes.back(), 8);
  const int64_t width = access_width(context, store.to, run);
  out.begin();
  write_bases(context, layout, buffer.axes, out);
  const std::string first = both(first_replica_text(layout, Place::Lane, "lane"),
                                 first_replica_text(layout, Place::Warp, "wave"));
  if (!first.empty()) out.open("if ({})", first);
  out.raw("UNROLL");
  out.open("for (int r = 0; r < {}; r += {})", layout.count(Place::Register), width);
  std::vector<std::string> coordinates;
  for (const AxisId axis : tensor.axes) {
    coordinates.push_back(coordinate(context, layout, axis, "r"));
  }
  const Spot spot = tensor_place(context, store.to, coordinates);
  const auto value = [&](std::string_view r) {
    std::string bits = element(context, store.from, r);
    if (buffer.dtype == tensor.dtype) return bits;
    return stored(tensor.dtype, loaded(buffer.dtype, bits));
  };
  const std::string target =
      fmt::format("({} + {})", tensor_name(context.program, store.to), spot.offset);
  const std::string guard = spot.inside.empty() ? "" : fmt::format("if ({}) ", spot.inside);
  if (width == 1) {
    out.line("{}*{} = {};", guard, target, value("r"));
  } else {
    const std::string vector = vector_of(tensor.dtype, width);
    out.line("{} x;", vector);
    out.raw("UNROLL");
    out.line("for (int e = 0; e < {}; ++e) x[e] = {};", width, value("r + e"));
    out.line("{}*({}*){} = x;", guard, vector, target);
  }
  out.close();
  if (!first.empty()) out.close();
  out.close();
  return {};
}

}  // namespace orrery::emit::hip
