// buffer = sum or max of an expression: in registers, across lanes by shuffles, across warps
// through shared memory.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/emit/cuda/evaluate_internal.h"
#include "orrery/emit/index.h"

namespace orrery::emit::cuda {
namespace {

using kernel::Digit;
using kernel::ExprOp;
using kernel::Reduce;
using kernel::ReduceKind;

bool has_axis(const Buffer& buffer, AxisId axis) {
  return std::find(buffer.axes.begin(), buffer.axes.end(), axis) != buffer.axes.end();
}

/// The operand whose layout is walked: the fragment with most axes.
std::optional<BufferId> walked(const Scope& scope, const Reduce& reduce) {
  std::optional<BufferId> widest;
  for (const auto& node : reduce.value.nodes) {
    if (node.op != ExprOp::Buffer || scope[node.buffer].space != Space::Fragment) continue;
    if (!widest || scope[node.buffer].axes.size() > scope[*widest].axes.size()) {
      widest = node.buffer;
    }
  }
  return widest;
}

std::string combined(ReduceKind kind, std::string_view x, std::string_view y) {
  return kind == ReduceKind::Sum ? fmt::format("{} + {}", x, y)
                                 : fmt::format("fmaxf({}, {})", x, y);
}

/// Shuffles over the lane digits that move along a reduced axis.
void across_lanes(Scope& scope, const Reduce& reduce, const Buffer& from, const Buffer& to) {
  int64_t weight = 1;
  for (const Digit& digit : from.fragment.digits) {
    if (digit.place != Place::Lane) continue;
    if (digit.axis && !has_axis(to, *digit.axis)) {
      for (int64_t step = digit.extent / 2; step >= 1; step /= 2) {
        const std::string other =
            fmt::format("__shfl_xor_sync(~0u, total.w[i], {})", step * weight);
        scope.out.raw("#pragma unroll");
        scope.out.line("for (int i = 0; i < {}; ++i) total.w[i] = {};",
                       to.fragment.count(Place::Register),
                       combined(reduce.kind, "total.w[i]", other));
      }
    }
    weight *= digit.extent;
  }
}

/// The warps along reduced axes as a number, and how many there are; lanes that hold a partial
/// result alone.
struct Partials {
  int64_t warps = 1;
  std::string warp_index = "0";
  std::string sole_lane;
};

Partials partials_of(const Buffer& from, const Buffer& to) {
  Partials partials;
  int64_t lane_weight = 1;
  int64_t warp_weight = 1;
  for (const Digit& digit : from.fragment.digits) {
    const bool dropped = !digit.axis || !has_axis(to, *digit.axis);
    if (digit.place == Place::Lane) {
      if (dropped && digit.extent > 1) {
        partials.sole_lane += fmt::format("{}lane / {} % {} == 0",
                                          partials.sole_lane.empty() ? "" : " && ",
                                          lane_weight,
                                          digit.extent);
      }
      lane_weight *= digit.extent;
    } else if (digit.place == Place::Warp) {
      if (dropped && digit.axis) {
        partials.warp_index +=
            fmt::format(" + warp / {} % {} * {}", warp_weight, digit.extent, partials.warps);
        partials.warps *= digit.extent;
      }
      warp_weight *= digit.extent;
    }
  }
  return partials;
}

/// The number of register `i`'s element in the result tile.
std::string element_text(Scope& scope, BufferId to) {
  std::string text = "0";
  for (const AxisId axis : scope[to].axes) {
    text = fmt::format("({}) * {} + {} + {}",
                       text,
                       scope.program()[axis].tile,
                       scope.thread_part(to, axis),
                       offset_text(scope[to].fragment, axis, Place::Register, "i"));
  }
  return text;
}

void across_warps(Scope& scope, const Reduce& reduce, const Buffer& from, const Buffer& to) {
  const Partials partials = partials_of(from, to);
  if (partials.warps == 1) return;
  Writer& out = scope.out;
  const int64_t registers = to.fragment.count(Place::Register);
  scope.declare(
      "float* const",
      "scratch",
      fmt::format("reinterpret_cast<float*>(memory + {})", scope.context.plan.scratch_offset));
  // The area is one for all reductions: the readers of the one before must be through.
  if (scope.in_loop || scope.program().persistent || scope.reductions > 0) {
    out.raw(stage_barrier(scope));
  }
  ++scope.reductions;
  const std::string at = fmt::format("({}) * {}", element_text(scope, reduce.to), partials.warps);
  if (!partials.sole_lane.empty()) out.open("if ({})", partials.sole_lane);
  out.raw("#pragma unroll");
  out.line("for (int i = 0; i < {}; ++i) scratch[{} + {}] = total.w[i];",
           registers,
           at,
           partials.warp_index);
  if (!partials.sole_lane.empty()) out.close();
  out.raw(stage_barrier(scope));
  out.raw("#pragma unroll");
  out.open("for (int i = 0; i < {}; ++i)", registers);
  out.line("const float* part = scratch + {};", at);
  out.raw("total.w[i] = part[0];");
  out.raw("#pragma unroll");
  out.line("for (int p = 1; p < {}; ++p) total.w[i] = {};",
           partials.warps,
           combined(reduce.kind, "total.w[i]", "part[p]"));
  out.close();
}

}  // namespace

Result<void> lower_reduce(Scope& scope, const Reduce& reduce) {
  const auto like = walked(scope, reduce);
  const Buffer& to = scope[reduce.to];
  if (!like || to.space != Space::Fragment) {
    return unsupported(scope.context,
                       fmt::format("a reduction into '{}' without a fragment to walk", to.name));
  }
  const Buffer& from = scope[*like];
  const auto reg = register_text(from.fragment, to.fragment, to.axes, "(i + j)");
  if (!reg) {
    return unsupported(scope.context,
                       fmt::format("layout of '{}' beside the layout of '{}'", to.name, from.name));
  }
  Writer& out = scope.out;
  const int64_t registers = to.fragment.count(Place::Register);
  out.open("");
  out.line("Tile<f32, {}> total;", registers);
  out.line("total.fill({});", reduce.kind == ReduceKind::Sum ? "0.0f" : constant_text(-INFINITY));
  const Evaluation evaluation = plan_evaluation(scope, reduce.value, *like, 1);
  ORR_TRY_VOID(open_evaluation(scope, evaluation, reduce.value));
  out.raw("#pragma unroll");
  out.line("for (int j = 0; j < {}; ++j) total.w[{}] = {};",
           evaluation.group,
           *reg,
           combined(reduce.kind, fmt::format("total.w[{}]", *reg), "x[j]"));
  out.close();
  across_lanes(scope, reduce, from, to);
  across_warps(scope, reduce, from, to);
  out.raw("#pragma unroll");
  out.open("for (int i = 0; i < {}; ++i)", registers);
  out.raw("const float x[1] = {total.w[i]};");
  out.line("{}.put(i, x);", buffer_name(scope.program(), reduce.to));
  out.close();
  out.close();
  return {};
}

}  // namespace orrery::emit::cuda
