// Which tiles a CTA takes: the unit map of kernel/geometry.h as integer arithmetic.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/emit/cuda/scope_internal.h"

namespace orrery::emit::cuda {
namespace {

std::string axis_text(const Context& context, AxisId axis) {
  return context.program[axis].name;
}

/// Tiles of a grid axis that are numbered: clusters where the cluster lies along it.
std::string count_name(const Context& context, AxisId axis) {
  return "count_" + axis_text(context, axis);
}

bool clustered(const Context& context, AxisId axis) {
  return context.cluster() > 1 && context.program.cluster->axis == axis;
}

std::string ceil_text(const std::string& extent, int64_t tile) {
  return tile == 1 ? extent : fmt::format("({} + {}) / {}", extent, tile - 1, tile);
}

/// Tile indices (cluster indices along the cluster's axis) from `rest`, banded over the first two
/// axes.
void write_indices(Writer& out, const Context& context) {
  const auto& raster = context.program.raster;
  size_t next = 0;
  int64_t band = raster.group;
  if (!raster.order.empty() && clustered(context, raster.order[0])) {
    band = std::max<int64_t>(1, band / context.cluster());
  }
  if (band > 1 && raster.order.size() > 1) {
    const std::string a = axis_text(context, raster.order[0]);
    const std::string b = axis_text(context, raster.order[1]);
    out.line("const int plane = count_{} * count_{}, in_plane = rest % plane;", a, b);
    out.line(
        "const int per_band = {} * count_{}, start = in_plane / per_band * {};", band, b, band);
    out.line(
        "const int width = min({}, count_{} - start), in_band = in_plane % per_band;", band, a);
    out.line("const int index_{} = start + in_band % width, index_{} = in_band / width;", a, b);
    if (raster.order.size() > 2) out.raw("rest /= plane;");
    next = 2;
  }
  for (size_t i = next; i < raster.order.size(); ++i) {
    const std::string name = axis_text(context, raster.order[i]);
    if (i + 1 == raster.order.size()) {
      out.line("const int index_{} = rest;", name);
    } else {
      out.line("const int index_{0} = rest % count_{0};", name);
      out.line("rest /= count_{};", name);
    }
  }
}

void write_corners(Writer& out, const Context& context) {
  for (const AxisId axis : context.program.raster.order) {
    std::string index = "index_" + axis_text(context, axis);
    if (clustered(context, axis)) index = fmt::format("({} * {} + rank)", index, context.cluster());
    out.line("const int {} = {} * {};",
             corner_name(context.program, axis),
             index,
             context.program[axis].tile);
  }
}

/// first_k and last_k of every loop axis.
void write_walks(Writer& out, const Context& context) {
  for (size_t a = 0; a < context.program.axes.size(); ++a) {
    const AxisId axis = AxisId::from_index(a);
    const Axis& loop = context.program[axis];
    if (loop.kind != AxisKind::Loop) continue;
    const std::string name = axis_text(context, axis);
    if (!loop.parts) {
      out.line("const int first_{0} = 0, last_{0} = tiles_{0};", name);
      continue;
    }
    const std::string parts = extent_name(context.program, *loop.parts);
    out.line("const int step_{0} = (tiles_{0} + {1} - 1) / {1};", name, parts);
    out.line("const int first_{0} = min(tiles_{0}, {1} * step_{0});",
             name,
             corner_name(context.program, *loop.parts));
    out.line("const int last_{0} = min(tiles_{0}, first_{0} + step_{0});", name);
  }
}

}  // namespace

void declare_units(Writer& out, const Context& context) {
  for (size_t a = 0; a < context.program.axes.size(); ++a) {
    const AxisId axis = AxisId::from_index(a);
    if (context.program[axis].kind != AxisKind::Loop) continue;
    out.line("const int tiles_{} = {};",
             axis_text(context, axis),
             ceil_text(extent_name(context.program, axis), context.program[axis].tile));
  }
  std::string units = context.cluster() > 1 ? fmt::format("{}", context.cluster()) : "1";
  for (const AxisId axis : context.program.raster.order) {
    const int64_t span =
        context.program[axis].tile * (clustered(context, axis) ? context.cluster() : 1);
    out.line("const int {} = {};",
             count_name(context, axis),
             ceil_text(extent_name(context.program, axis), span));
    units += " * " + count_name(context, axis);
  }
  if (context.program.persistent) out.line("const int units = {};", units);
  if (context.cluster() > 1) out.raw("const int rank = cluster_rank();");
}

void open_units(Writer& out, const Context& context) {
  if (context.program.persistent) {
    out.open("for (int unit = blockIdx.x; unit < units; unit += gridDim.x)");
  } else {
    out.open("");
    out.raw("const int unit = blockIdx.x;");
  }
  if (context.cluster() > 1) {
    out.line("int rest = unit / {};", context.cluster());
  } else {
    out.raw("int rest = unit;");
  }
  write_indices(out, context);
  write_corners(out, context);
  write_walks(out, context);
}

void open_loop(Scope& scope, AxisId axis) {
  const std::string name = scope.program()[axis].name;
  scope.out.open("for (int tile_{0} = first_{0}; tile_{0} < last_{0}; ++tile_{0})", name);
  scope.out.line("const int {} = tile_{} * {};",
                 corner_name(scope.program(), axis),
                 name,
                 scope.program()[axis].tile);
}

}  // namespace orrery::emit::cuda
