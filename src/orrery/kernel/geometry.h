// Launch geometry of a program for given extents: units, grid, threads, shared memory, arguments.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/base/result.h"
#include "orrery/kernel/program.h"

namespace orrery::kernel {

/// The extent of an axis under `extents`; an error names the missing symbol or the non-positive value.
Result<int64_t> extent_of(const Program& program, AxisId axis, const Extents& extents);

/// Tiles of an axis: ceil(extent / tile). For `whole` axes an extent above the tile is an error.
Result<int64_t> tiles_of(const Program& program, AxisId axis, const Extents& extents);

/// Tiles of loop axis `axis` that part `part` walks: [first, last).
struct Walk {
  int64_t first = 0;
  int64_t last = 0;
};
Result<Walk> walk_of(const Program& program, AxisId axis, int64_t part, const Extents& extents);

/// The tile index along every grid axis (program.raster.order's axes, same order) of unit `unit`, 0 <= unit < units.
/// With a cluster of size c along an axis, the axis' tile count is rounded up to a multiple of c first (units beyond
/// the tensor do nothing), and c consecutive units differ in that axis alone.
struct UnitMap {
  std::vector<AxisId> order;
  std::vector<int64_t> tiles;  // after rounding
  int64_t group = 1;
  int64_t cluster = 1;         // size
  size_t cluster_at = 0;       // index into order
  int64_t units() const;
  std::vector<int64_t> at(int64_t unit) const;
};
Result<UnitMap> unit_map(const Program& program, const Extents& extents);

/// A place in dynamic shared memory.
struct SharedSlot {
  BufferId buffer;
  int64_t offset = 0;      // bytes from the (1024-byte aligned) start
  int64_t bytes = 0;       // of one ring entry
  int64_t ring = 1;
};

/// Shared memory of one CTA: buffers at 1024-byte aligned offsets in program order, then reduction scratch, then
/// 8-byte barriers. The emitters lay out memory exactly so.
struct SharedPlan {
  std::vector<SharedSlot> slots;
  int64_t scratch_offset = 0;  // cross-warp reductions
  int64_t scratch_bytes = 0;
  int64_t barrier_offset = 0;
  int64_t barriers = 0;        // count
  int64_t total = 0;           // bytes, alignment slack included
};
SharedPlan shared_plan(const Program& program);

/// Bytes of one ring entry of a shared buffer, padding included.
int64_t shared_bytes(const Program& program, const Buffer& buffer);

/// What one launch looks like.
struct Geometry {
  int64_t units = 0;
  int64_t ctas = 0;            // = units, or fewer when persistent
  int64_t cluster = 1;
  int64_t threads = 0;         // per CTA
  int64_t shared_bytes = 0;    // dynamic, per CTA
};

/// `slots`: how many CTAs the machine holds at once (SMs x CTAs per SM); only persistent programs look at it.
Result<Geometry> geometry(const Program& program, const Extents& extents, int64_t slots);

}  // namespace orrery::kernel
