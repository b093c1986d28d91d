// What the parts of the CUDA emitter know about the program: see context_internal.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/base/check.h"
#include "orrery/emit/cuda/context_internal.h"

namespace orrery::emit::cuda {
namespace {

using kernel::Load;
using kernel::Map;
using kernel::Mma;
using kernel::Op;
using kernel::Program;
using kernel::Reduce;
using kernel::Statement;
using kernel::Store;

bool reads(const kernel::Expr& value, BufferId buffer) {
  return std::any_of(value.nodes.begin(), value.nodes.end(), [&](const kernel::ExprNode& node) {
    return node.op == kernel::ExprOp::Buffer && node.buffer == buffer;
  });
}

/// Is this buffer loaded once for all units of a cluster?
bool is_multicast(const Program& program, BufferId id) {
  if (!program.cluster || program.cluster->size == 1) return false;
  const auto& axes = program[id].axes;
  return std::find(axes.begin(), axes.end(), program.cluster->axis) == axes.end();
}

Result<void> check_types(const Context& context) {
  const auto known = [](DType t) { return t == DType::F32 || t == DType::BF16 || t == DType::F16; };
  for (const auto& tensor : context.program.tensors) {
    if (!known(tensor.dtype)) {
      return unsupported(
          context, fmt::format("element type {} of tensor '{}'", name(tensor.dtype), tensor.name));
    }
  }
  for (const auto& buffer : context.program.buffers) {
    if (!known(buffer.dtype)) {
      return unsupported(
          context, fmt::format("element type {} of buffer '{}'", name(buffer.dtype), buffer.name));
    }
  }
  return {};
}

StageId producer_of(const Program& program, const kernel::RingGroup& group) {
  for (const Statement& statement : program.phases[group.phase].body) {
    const auto* load = std::get_if<Load>(&statement.op);
    if (load != nullptr && load->to == group.buffers.front()) return statement.stage;
  }
  ORR_UNREACHABLE();
}

/// Warps of the consumer stages that use the ring: each gives an entry back once.
int64_t consumer_warps(const Program& program, const kernel::RingGroup& group) {
  int64_t warps = 0;
  for (size_t s = 0; s < program.stages.size(); ++s) {
    if (program.stages[s].kind == StageKind::Producer) continue;
    bool uses = false;
    for (const auto& phase : program.phases) {
      for (const Statement& statement : phase.body) {
        if (statement.stage.index() != s) continue;
        for (const BufferId buffer : group.buffers) uses = uses || touches(statement.op, buffer);
      }
    }
    warps += uses ? program.stages[s].warps : 0;
  }
  return warps;
}

Result<void> add_rings(Context& context) {
  int64_t at = context.plan.barrier_offset;
  std::set<BufferId> filled;
  for (const kernel::RingGroup& group : kernel::ring_groups(context.program)) {
    Ring ring{.group = group, .full = at, .empty = at + 8 * group.ring, .producer = {}};
    at += 16 * group.ring;
    ring.producer = producer_of(context.program, group);
    for (const BufferId buffer : group.buffers) {
      if (!filled.insert(buffer).second) {
        return unsupported(
            context, fmt::format("buffer '{}' filled in two phases", context.program[buffer].name));
      }
      ring.multicast = ring.multicast || is_multicast(context.program, buffer);
    }
    ring.releases = consumer_warps(context.program, group);
    if (ring.multicast) ring.releases *= context.cluster();
    context.rings.push_back(std::move(ring));
  }
  return {};
}

}  // namespace

int64_t Context::threads() const {
  int64_t warps = 0;
  for (const auto& stage : program.stages) warps += stage.warps;
  return warps * kWarpSize;
}

int64_t Context::first_warp(StageId stage) const {
  int64_t first = 0;
  for (size_t s = 0; s < stage.index(); ++s) first += program.stages[s].warps;
  return first;
}

const kernel::SharedSlot& Context::slot(BufferId buffer) const {
  const auto at = std::find_if(plan.slots.begin(), plan.slots.end(), [&](const auto& slot) {
    return slot.buffer == buffer;
  });
  ORR_CHECK(at != plan.slots.end()) << "buffer " << program[buffer].name << " has no slot";
  return *at;
}

std::optional<size_t> Context::ring_of(BufferId buffer) const {
  for (size_t r = 0; r < rings.size(); ++r) {
    const auto& buffers = rings[r].group.buffers;
    if (std::find(buffers.begin(), buffers.end(), buffer) != buffers.end()) return r;
  }
  return std::nullopt;
}

std::string Context::map_name(const TensorMap& map) {
  for (const MapUse& use : maps) {
    if (use.map.tensor == map.tensor && use.map.box == map.box && use.map.swizzle == map.swizzle) {
      return use.name;
    }
  }
  maps.push_back({map, fmt::format("map{}_{}", maps.size(), program[map.tensor].name)});
  return maps.back().name;
}

Result<Context> make_context(const Program& program) {
  Context context{.program = program, .plan = kernel::shared_plan(program)};
  if (program.target != kernel::Target::Sm90a) {
    return unsupported(context, fmt::format("target {}", kernel::name(program.target)));
  }
  ORR_TRY_VOID(check_types(context));
  ORR_TRY_VOID(add_rings(context));
  return context;
}

bool touches(const Op& op, BufferId buffer) {
  if (const auto* load = std::get_if<Load>(&op)) return load->to == buffer;
  if (const auto* store = std::get_if<Store>(&op)) return store->from == buffer;
  if (const auto* map = std::get_if<Map>(&op)) {
    return map->to == buffer || reads(map->value, buffer);
  }
  if (const auto* reduce = std::get_if<Reduce>(&op)) {
    return reduce->to == buffer || reads(reduce->value, buffer);
  }
  const auto& mma = std::get<Mma>(op);
  return mma.acc == buffer || mma.first == buffer || mma.second == buffer;
}

std::string_view element_type(DType dtype) {
  if (dtype == DType::F32) return "f32";
  return dtype == DType::BF16 ? "bf16" : "f16";
}

int64_t element_bytes(DType dtype) {
  return dtype == DType::F32 ? 4 : 2;
}

bool needs_guard(const Context& context, AxisId axis) {
  const Axis& a = context.program[axis];
  const bool clustered =
      context.program.cluster && context.program.cluster->axis == axis && context.cluster() > 1;
  if (clustered) {
    const int64_t step = a.tile * context.cluster();
    return a.extent.symbol.empty() ? a.extent.fixed % step != 0 : a.multiple % step != 0;
  }
  if (a.tile == 1 && a.kind != AxisKind::Whole) return false;
  return a.extent.symbol.empty() ? a.extent.fixed % a.tile != 0 : a.multiple % a.tile != 0;
}

int64_t known_multiple(const Context& context, AxisId axis, int64_t limit) {
  const Axis& a = context.program[axis];
  const int64_t known = a.extent.symbol.empty() ? a.extent.fixed : a.multiple;
  int64_t power = 1;
  while (power * 2 <= limit && known % (power * 2) == 0) power *= 2;
  return power;
}

std::vector<AxisId> wide_axes(const Context& context, const Buffer& buffer) {
  std::vector<AxisId> axes;
  for (const AxisId axis : buffer.axes) {
    if (context.program[axis].tile > 1) axes.push_back(axis);
  }
  return axes;
}

Error unsupported(const Context& context, std::string what) {
  return make_error(ErrorCode::Unsupported,
                    "[emit.cuda] kernel '{}' cannot be lowered: got {}, need a form this emitter "
                    "knows",
                    context.program.name,
                    what);
}

}  // namespace orrery::emit::cuda
