// What the parts of the CUDA emitter know about the program: shared memory, rings, names, bounds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/emit/emitter.h"
#include "orrery/emit/naming.h"
#include "orrery/kernel/geometry.h"
#include "orrery/kernel/program.h"

namespace orrery::emit::cuda {

using kernel::Access;
using kernel::Axis;
using kernel::AxisId;
using kernel::AxisKind;
using kernel::Buffer;
using kernel::BufferId;
using kernel::Place;
using kernel::Space;
using kernel::StageId;
using kernel::StageKind;
using kernel::TensorId;

inline constexpr int64_t kWarpSize = 32;
inline constexpr int64_t kWarpgroup =
    4;  // warps that issue a wgmma together (PTX ISA, "warpgroup")
inline constexpr int64_t kVectorBytes = 16;  // the widest access of one thread

/// A ring of shared buffers with its barriers, and where consumers first and last use it.
struct Ring {
  kernel::RingGroup group;
  int64_t full = 0;   // byte offset of the first full barrier from the start of shared memory
  int64_t empty = 0;  // of the first empty barrier
  StageId producer = {};
  bool multicast = false;  // some buffer is loaded once for the whole cluster
  int64_t releases = 0;    // arrivals that make an entry empty
};

/// A wgmma wrapper that the code calls.
struct MmaInstruction {
  int64_t n = 0;
  DType dtype = DType::BF16;
  bool first_in_registers = false;
  auto operator<=>(const MmaInstruction&) const = default;
};

/// A tensor map under construction, with its parameter name.
struct MapUse {
  TensorMap map;
  std::string name;
};

/// One emission. Sections of the source report here what they need from others.
struct Context {
  const kernel::Program& program;
  kernel::SharedPlan plan;
  std::vector<Ring> rings = {};
  std::vector<MapUse> maps = {};
  std::set<MmaInstruction> instructions = {};
  std::set<int64_t> load_ranks = {};  // of tensor copies: rank, and rank + 100 for multicast
  std::set<int64_t> store_ranks = {};

  int64_t cluster() const { return program.cluster ? program.cluster->size : 1; }

  int64_t threads() const;
  int64_t first_warp(StageId stage) const;
  const kernel::SharedSlot& slot(BufferId buffer) const;
  /// The ring that a producer fills `buffer` through in some phase.
  std::optional<size_t> ring_of(BufferId buffer) const;
  /// The parameter name of the map for this tensor, box and swizzle.
  std::string map_name(const TensorMap& map);
};

/// Rings, barriers and shared memory. Errors: what this emitter has no lowering for.
Result<Context> make_context(const kernel::Program& program);

/// Does `op` read or write `buffer`?
bool touches(const kernel::Op& op, BufferId buffer);

/// The type in the source: f32, bf16, f16.
std::string_view element_type(DType dtype);

bool has_buffer(const Ring& ring, BufferId buffer);

/// Bytes of an element of the types that this emitter handles (f32, bf16, f16).
int64_t element_bytes(DType dtype);

/// Can a tile reach beyond the extent of this axis?
bool needs_guard(const Context& context, AxisId axis);

/// The largest power of two (at most `limit`) that divides every extent the axis may have.
int64_t known_multiple(const Context& context, AxisId axis, int64_t limit);

/// Buffer axes of more than one element.
std::vector<AxisId> wide_axes(const Context& context, const Buffer& buffer);

Error unsupported(const Context& context, std::string what);

}  // namespace orrery::emit::cuda
