// A producer stage: one thread that fills rings with tensor copies, ahead of the consumers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/emit/cuda/scope_internal.h"

namespace orrery::emit::cuda {
namespace {

using kernel::Load;
using kernel::Statement;

bool has(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// How a buffer's tile is copied: one copy a panel, of all rows or (multicast) of this unit's share
/// of them.
struct Copy {
  BufferId to;
  TensorId from;
  int64_t panels = 1;
  int64_t panel = 0;  // elements
  int64_t rows = 1;
  int64_t share = 1;  // units that share the copy along the first axis
  AxisId first = {};  // the axis that is shared out
};

Result<Copy> plan_copy(const Scope& scope, const Load& load) {
  const Buffer& to = scope[load.to];
  const auto& tensor = scope.program()[load.from];
  const Error error = unsupported(
      scope.context, fmt::format("a tensor copy from '{}' to '{}'", tensor.name, to.name));
  const int64_t size = element_bytes(to.dtype);
  if (to.axes.empty() || to.axes.back() != tensor.axes.back() || to.shared.pad != 0 ||
      to.dtype != tensor.dtype || tensor.axes.size() > 5) {
    return error;
  }
  Copy copy{.to = load.to, .from = load.from};
  const int64_t inner = scope.program()[to.axes.back()].tile;
  copy.panel = to.shared.panel > 0 ? to.shared.panel : inner;
  copy.panels = (inner + copy.panel - 1) / copy.panel;
  for (size_t a = 0; a + 1 < to.axes.size(); ++a) copy.rows *= scope.program()[to.axes[a]].tile;
  if (scope.context.cluster() > 1 && !has(to.axes, scope.program().cluster->axis)) {
    copy.share = scope.context.cluster();
    const auto wide = wide_axes(scope.context, to);
    copy.first = wide.front();
    // A share must begin at a swizzle atom, 8 rows.
    if (wide.size() < 2 || scope.program()[copy.first].tile % (8 * copy.share) != 0) return error;
  }
  if (to.shared.swizzle != 0 && copy.panel * size != to.shared.swizzle) return error;
  return copy;
}

TensorMap map_of(const Scope& scope, const Copy& copy) {
  const auto& axes = scope[copy.to].axes;
  TensorMap map{.tensor = copy.from, .box = {}, .swizzle = scope[copy.to].shared.swizzle};
  for (const AxisId axis : scope.program()[copy.from].axes) {
    int64_t extent = has(axes, axis) ? scope.program()[axis].tile : 1;
    if (axis == axes.back()) extent = copy.panel;
    if (copy.share > 1 && axis == copy.first) extent /= copy.share;
    map.box.push_back(extent);
  }
  return map;
}

/// Coordinates of panel `p`, innermost first.
std::string corner_text(const Scope& scope, const Copy& copy, int64_t p) {
  const auto& tensor = scope.program()[copy.from];
  std::string text;
  for (auto axis = tensor.axes.rbegin(); axis != tensor.axes.rend(); ++axis) {
    std::string at =
        scope.program()[*axis].kind == AxisKind::Whole ? "0" : corner_name(scope.program(), *axis);
    if (*axis == tensor.axes.back() && p > 0) at += fmt::format(" + {}", p * copy.panel);
    if (copy.share > 1 && *axis == copy.first) {
      at += fmt::format(" + rank * {}", scope.program()[*axis].tile / copy.share);
    }
    text += ", " + at;
  }
  return text;
}

/// The L2 policy of a tensor: what one unit alone reads need not be kept. That is so if every grid
/// axis which the tensor lacks (and which divides no walk over its axes) has a single tile.
std::string policy_text(const Scope& scope, TensorId tensor) {
  const auto& axes = scope.program()[tensor].axes;
  std::vector<AxisId> divided;
  for (const AxisId axis : axes) {
    if (scope.program()[axis].parts) divided.push_back(*scope.program()[axis].parts);
  }
  std::string condition;
  for (const AxisId axis : scope.program().raster.order) {
    if (has(axes, axis) || has(divided, axis)) continue;
    condition +=
        fmt::format("{}count_{} == 1", condition.empty() ? "" : " && ", scope.program()[axis].name);
  }
  return condition.empty() ? "kEvictFirst" : condition + " ? kEvictFirst : kKeep";
}

Result<void> write_copy(Scope& scope, const Load& load, const std::string& barrier) {
  ORR_TRY(const Copy copy, plan_copy(scope, load));
  const TensorMap map = map_of(scope, copy);
  const std::string name = scope.context.map_name(map);
  const auto rank = static_cast<int64_t>(map.box.size());
  scope.context.load_ranks.insert(copy.share > 1 ? 100 + rank : rank);
  const int64_t line = copy.panel * element_bytes(scope[copy.to].dtype);
  for (int64_t p = 0; p < copy.panels; ++p) {
    std::string to = entry_address(scope.context, copy.to);
    if (p > 0) to += fmt::format(" + {}", p * copy.rows * line);
    std::string ranks;
    if (copy.share > 1) {
      to += fmt::format(" + rank * {}", copy.rows / copy.share * line);
      ranks = fmt::format(", {}", (1 << copy.share) - 1);
    }
    scope.out.line("copy_in{}({}, &{}, {}{}{}, {});",
                   copy.share > 1 ? "_all" : "",
                   to,
                   name,
                   barrier,
                   ranks,
                   corner_text(scope, copy, p),
                   policy_text(scope, copy.from));
  }
  return {};
}

/// One entry of one ring: wait until it is empty, announce its bytes, copy.
Result<void> fill(Scope& scope, size_t ring) {
  const Ring& r = scope.context.rings[ring];
  scope.declare("u32", fmt::format("slot{}", ring), "0");
  scope.declare("u32", fmt::format("parity{}", ring), "0");
  scope.out.line("barrier_wait(shared + {} + slot{} * 8, parity{} ^ 1);", r.empty, ring, ring);
  scope.out.line("const u32 full{} = shared + {} + slot{} * 8;", ring, r.full, ring);
  scope.out.line("barrier_expect(full{}, {});", ring, r.group.bytes);
  for (const Statement& statement : scope.program().phases[r.group.phase].body) {
    const auto* load = std::get_if<Load>(&statement.op);
    if (load == nullptr || !has_buffer(r, load->to)) continue;
    ORR_TRY_VOID(write_copy(scope, *load, fmt::format("full{}", ring)));
  }
  scope.out.line("if (++slot{0} == {1}) slot{0} = 0, parity{0} ^= 1;", ring, r.group.ring);
  return {};
}

}  // namespace

bool has_buffer(const Ring& ring, BufferId buffer) {
  const auto& buffers = ring.group.buffers;
  return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

Result<void> lower_producer(Scope& scope) {
  for (size_t p = 0; p < scope.program().phases.size(); ++p) {
    std::vector<size_t> rings;
    for (size_t r = 0; r < scope.context.rings.size(); ++r) {
      const Ring& ring = scope.context.rings[r];
      if (ring.group.phase == p && ring.producer == scope.stage) rings.push_back(r);
    }
    if (rings.empty()) continue;
    const auto& loop = scope.program().phases[p].loop;
    if (loop) {
      open_loop(scope, *loop);
    } else {
      scope.out.open("");
    }
    for (const size_t ring : rings) ORR_TRY_VOID(fill(scope, ring));
    scope.out.close();
  }
  return {};
}

}  // namespace orrery::emit::cuda
