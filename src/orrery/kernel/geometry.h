// Launch geometry of a program for given extents: units, grid, threads, shared memory, arguments.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/base/result.h"
#include "orrery/kernel/program.h"
#include "orrery/kernel/traversal.h"

namespace orrery::kernel {

/// Lanes of a warp (wave): part of the instruction set that a program is written for.
int64_t warp_size(Target target);

/// The extent of an axis under `extents`; an error names the missing symbol, the non-positive
/// value, or the broken promise of a multiple.
Result<int64_t> extent_of(const Program& program, AxisId axis, const Extents& extents);

/// Tiles of an axis: ceil(extent / tile). For `whole` axes an extent above the tile is an error.
Result<int64_t> tiles_of(const Program& program, AxisId axis, const Extents& extents);

/// Tiles of loop axis `axis` that part `part` walks: [first, last).
struct Walk {
  int64_t first = 0;
  int64_t last = 0;
};

Result<Walk> walk_of(const Program& program, AxisId axis, int64_t part, const Extents& extents);

/// The order in which the units of a program walk its grid (traversal.h): axis i is order[i]. With
/// a cluster of size c along an axis, the axis' tile count is rounded up to a multiple of c first
/// (units beyond the tensor do nothing); bands are then of max(1, g / c) clusters if the cluster
/// lies along the banded axis.
struct UnitMap : TileOrder {
  std::vector<AxisId> order;
};

Result<UnitMap> unit_map(const Program& program, const Extents& extents);

/// Shared buffers that a producer fills together: those which the same statement reads first (a and
/// b of a GEMM's mma). A group has one full and one empty barrier per ring entry, and its `bytes`
/// arrive per entry.
struct RingGroup {
  std::vector<BufferId> buffers;
  size_t phase = 0;  // index of the phase whose loads fill them
  int64_t ring = 1;
  int64_t bytes = 0;  // of one entry of all its buffers
};

/// The groups in the order of their first load; empty for programs without a producer stage.
std::vector<RingGroup> ring_groups(const Program& program);

/// A place in dynamic shared memory.
struct SharedSlot {
  BufferId buffer;
  int64_t offset = 0;  // bytes from the (1024-byte aligned) start
  int64_t bytes = 0;   // of one ring entry
  int64_t ring = 1;
};

/// Shared memory of one CTA: buffers at 1024-byte aligned offsets in program order, then reduction
/// scratch, then 8-byte barriers (ring group by ring group: its full barriers, its empty barriers).
/// The emitters lay out memory exactly so. Scratch is one area for all cross-warp reductions,
/// [element of the result][warp along the reduced axes] in binary32, as large as the largest
/// reduction needs.
struct SharedPlan {
  std::vector<SharedSlot> slots;
  int64_t scratch_offset = 0;  // cross-warp reductions
  int64_t scratch_bytes = 0;
  int64_t barrier_offset = 0;
  int64_t barriers = 0;  // count
  int64_t total = 0;     // bytes; the kernel declares its memory aligned, so there is no slack
};

SharedPlan shared_plan(const Program& program);

/// Bytes of one ring entry of a shared buffer, padding included.
int64_t shared_bytes(const Program& program, const Buffer& buffer);

/// What one launch looks like.
struct Geometry {
  int64_t units = 0;
  int64_t ctas = 0;  // = units, or fewer when persistent
  int64_t cluster = 1;
  int64_t threads = 0;       // per CTA
  int64_t shared_bytes = 0;  // dynamic, per CTA
};

/// `slots`: how many CTAs the machine holds at once (SMs x CTAs per SM); only persistent programs
/// look at it.
Result<Geometry> geometry(const Program& program, const Extents& extents, int64_t slots);

}  // namespace orrery::kernel
