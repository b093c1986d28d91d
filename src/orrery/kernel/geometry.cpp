// Launch geometry of a program for given extents: see geometry.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/geometry.h"

#include <algorithm>
#include <limits>
#include <string>

#include "orrery/kernel/limits.h"

namespace orrery::kernel {
namespace {

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

int64_t round_up(int64_t a, int64_t b) {
  return ceil_div(a, b) * b;
}

}  // namespace

int64_t warp_size(Target target) {
  return target_limits(target).warp_size;
}

Result<int64_t> extent_of(const Program& program, AxisId axis, const Extents& extents) {
  const Axis& a = program[axis];
  int64_t value = a.extent.fixed;
  if (!a.extent.symbol.empty()) {
    const auto bound = extents.find(a.extent.symbol);
    if (!bound) {
      return make_error(ErrorCode::InvalidInput,
                        "[kernel.geometry] extent of axis '{}' of kernel '{}' is missing: got no "
                        "value for '{}', need one",
                        a.name,
                        program.name,
                        a.extent.symbol);
    }
    value = *bound;
  }
  if (value <= 0 || value % a.multiple != 0) {
    return make_error(ErrorCode::InvalidInput,
                      "[kernel.geometry] extent of axis '{}' of kernel '{}' does not fit: got {}, "
                      "need a positive multiple of {}",
                      a.name,
                      program.name,
                      value,
                      a.multiple);
  }
  return value;
}

Result<int64_t> tiles_of(const Program& program, AxisId axis, const Extents& extents) {
  ORR_TRY(const int64_t extent, extent_of(program, axis, extents));
  const Axis& a = program[axis];
  if (a.kind == AxisKind::Whole && extent > a.tile) {
    return make_error(ErrorCode::InvalidInput,
                      "[kernel.geometry] axis '{}' of kernel '{}' is whole, so one tile must cover "
                      "it: got extent {}, need at most {}",
                      a.name,
                      program.name,
                      extent,
                      a.tile);
  }
  return ceil_div(extent, a.tile);
}

Result<Walk> walk_of(const Program& program, AxisId axis, int64_t part, const Extents& extents) {
  ORR_TRY(const int64_t tiles, tiles_of(program, axis, extents));
  const Axis& a = program[axis];
  if (!a.parts) {
    return Walk{0, tiles};
  }
  ORR_TRY(const int64_t parts, tiles_of(program, *a.parts, extents));
  const int64_t step = ceil_div(tiles, parts);
  return Walk{std::min(tiles, part * step), std::min(tiles, (part + 1) * step)};
}

Result<UnitMap> unit_map(const Program& program, const Extents& extents) {
  UnitMap map;
  map.order = program.raster.order;
  map.group = program.raster.group;
  // Kernels count units in 32 bits, and so does a launch's grid.
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
  int64_t units = 1;
  for (size_t i = 0; i < map.order.size(); ++i) {
    ORR_TRY(int64_t tiles, tiles_of(program, map.order[i], extents));
    if (program.cluster && program.cluster->axis == map.order[i]) {
      map.cluster = program.cluster->size;
      map.cluster_at = i;
      tiles = round_up(tiles, map.cluster);
    }
    if (tiles > kLimit / units) {
      return make_error(ErrorCode::Unsupported,
                        "[kernel.geometry] kernel '{}' has too many units: got {} x {} or more, "
                        "need at most {}",
                        program.name,
                        units,
                        tiles,
                        kLimit);
    }
    units *= tiles;
    map.tiles.push_back(tiles);
  }
  return map;
}

Result<Geometry> geometry(const Program& program, const Extents& extents, int64_t slots) {
  ORR_TRY(const UnitMap map, unit_map(program, extents));
  Geometry g;
  g.units = map.units();
  g.cluster = map.cluster;
  g.ctas = g.units;
  if (program.persistent) {
    // Whole clusters only: a remainder of SMs stays idle.
    g.ctas = std::min(g.units, std::max(g.cluster, slots / g.cluster * g.cluster));
  }
  for (const Stage& stage : program.stages) {
    g.threads += stage.warps * warp_size(program.target);
  }
  g.shared_bytes = shared_plan(program).total;
  return g;
}

}  // namespace orrery::kernel
