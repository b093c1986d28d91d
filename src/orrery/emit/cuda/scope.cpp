// The state of lowering one stage: see scope_internal.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/cuda/scope_internal.h"

#include <algorithm>

#include "orrery/emit/index.h"

namespace orrery::emit::cuda {

std::string Scope::declare(std::string_view type,
                           const std::string& name,
                           const std::string& value) {
  const auto known = std::find_if(
      ahead.begin(), ahead.end(), [&](const auto& entry) { return entry.first == name; });
  if (known == ahead.end()) ahead.emplace_back(name, fmt::format("{} {} = {};", type, name, value));
  return name;
}

std::string Scope::thread_part(BufferId buffer, AxisId axis) {
  const auto& layout = (*this)[buffer].fragment;
  const std::string lane = offset_text(layout, axis, Place::Lane, "lane");
  const std::string warp = offset_text(layout, axis, Place::Warp, "warp");
  if (lane == "0" && warp == "0") return "0";
  const std::string sum = lane == "0" ? warp : warp == "0" ? lane : lane + " + " + warp;
  return declare("const int", buffer_name(context.program, buffer) + program()[axis].name, sum);
}

std::string Scope::coordinate(BufferId buffer, AxisId axis, std::string_view variable) {
  const auto& axes = (*this)[buffer].axes;
  std::vector<std::string> terms;
  if (program()[axis].kind != AxisKind::Whole) terms.push_back(corner_name(context.program, axis));
  if (std::find(axes.begin(), axes.end(), axis) != axes.end()) {
    const std::string own = thread_part(buffer, axis);
    if (own != "0") terms.push_back(own);
    const std::string reg = offset_text((*this)[buffer].fragment, axis, Place::Register, variable);
    if (reg != "0") terms.push_back(reg);
  }
  if (terms.empty()) return "0";
  std::string text = terms.front();
  for (size_t i = 1; i < terms.size(); ++i) text += " + " + terms[i];
  return text;
}

std::string entry_address(const Context& context, BufferId buffer) {
  const auto& slot = context.slot(buffer);
  const auto ring = context.ring_of(buffer);
  std::string text = fmt::format("shared + {}", slot.offset);
  if (ring && slot.ring > 1) text += fmt::format(" + slot{} * {}", *ring, slot.bytes);
  return text;
}

std::string release_text(const Context& context, size_t ring, std::string_view slot) {
  const Ring& r = context.rings[ring];
  const std::string bar = fmt::format("shared + {} + {} * 8", r.empty, slot);
  if (!r.multicast) return fmt::format("if (lane == 0) barrier_arrive({});", bar);
  return fmt::format("if (lane < {}) barrier_arrive_at({}, lane);", context.cluster(), bar);
}

void release_ring(Scope& scope, size_t ring) {
  const std::string slot = fmt::format("slot{}", ring);
  scope.out.raw(release_text(scope.context, ring, slot));
  scope.out.line("if (++{0} == {1}) {0} = 0, parity{2} ^= 1;",
                 slot,
                 scope.context.rings[ring].group.ring,
                 ring);
}

void finish_products(Scope& scope) {
  if (scope.in_flight.empty()) return;
  scope.out.raw("mma_wait<0>();");
  std::set<BufferId> pinned;
  for (const InFlight& product : scope.in_flight) {
    if (pinned.insert(product.acc).second) {
      scope.out.line("keep({});", buffer_name(scope.program(), product.acc));
    }
    for (const size_t ring : product.rings) release_ring(scope, ring);
  }
  scope.in_flight.clear();
}

std::string stage_barrier(const Scope& scope) {
  // Barrier 0 is __syncthreads.
  return fmt::format("named_barrier({}, {});", scope.stage.index() + 1, scope.warps() * kWarpSize);
}

}  // namespace orrery::emit::cuda
