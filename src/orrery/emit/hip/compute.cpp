// Maps and reductions of the HIP emitter: registers, lanes, waves.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <set>

#include "orrery/emit/expression.h"
#include "orrery/emit/hip/statement_internal.h"
#include "orrery/emit/hip/types_internal.h"
#include "orrery/emit/index.h"
#include "orrery/emit/naming.h"

namespace orrery::emit::hip {
namespace {

using kernel::ExprNode;
using kernel::ExprOp;
using kernel::ReduceAccess;

std::vector<AxisId> wide_axes(const Context& context, const std::vector<AxisId>& axes) {
  std::vector<AxisId> wide;
  for (const AxisId axis : axes) {
    if (context.program[axis].tile > 1) wide.push_back(axis);
  }
  return wide;
}

std::string fragment_value(const Context& context, BufferId id, std::string_view r) {
  const DType type = context.program[id].dtype;
  const std::string text = element(context, id, r);
  return loaded(type, text);
}

std::string tensor_value(const Context& context, TensorId id, const FragmentLayout& layout) {
  std::vector<std::string> coordinates;
  for (const AxisId axis : context.program[id].axes) {
    coordinates.push_back(coordinate(context, layout, axis, "r"));
  }
  const Spot spot = tensor_place(context, id, coordinates);
  const std::string value =
      loaded(context.program[id].dtype,
             fmt::format("{}[{}]", tensor_name(context.program, id), spot.offset));
  return spot.inside.empty() ? value : fmt::format("({} ? {} : 0.0f)", spot.inside, value);
}

// The first operand whose registers do not hold the elements of `layout`'s.
std::optional<BufferId> misplaced(const Context& context,
                                  const kernel::Expr& value,
                                  const FragmentLayout& layout) {
  for (const ExprNode& node : value.nodes) {
    if (node.op != ExprOp::Buffer) continue;
    const kernel::Buffer& buffer = context.program[node.buffer];
    const auto axes = wide_axes(context, buffer.axes);
    if (buffer.space != kernel::Space::Fragment ||
        !register_text(layout, buffer.fragment, axes, "r")) {
      return node.buffer;
    }
  }
  return std::nullopt;
}

// DPP controls: quad_perm [1,0,3,2] and [2,3,0,1], row_half_mirror, row_mirror (MI300 ISA). The
// mirrors reach lane ^ 7 and lane ^ 15, which hold what lane ^ 4 and lane ^ 8 do once the smaller
// masks are reduced.
std::string permutation(int64_t mask) {
  switch (mask) {
    case 1:
      return "permute<0xb1>";
    case 2:
      return "permute<0x4e>";
    case 4:
      return "permute<0x141>";
    default:
      return "permute<0x140>";
  }
}

// The number of a wave among those that hold partial results of the same element.
std::string partial_index(const Context& context, const kernel::Reduce& reduce, BufferId domain) {
  const std::vector<AxisId>& kept = context.program[reduce.to].axes;
  std::string text;
  int64_t weight = 1;
  int64_t index_weight = 1;
  for (const kernel::Digit& digit : context.program[domain].fragment.digits) {
    if (digit.place != Place::Warp) continue;
    if (digit.axis && std::find(kept.begin(), kept.end(), *digit.axis) == kept.end()) {
      if (!text.empty()) text += " + ";
      text += fmt::format("wave / {} % {} * {}", weight, digit.extent, index_weight);
      index_weight *= digit.extent;
    }
    weight *= digit.extent;
  }
  return text;
}

// The element's number in the tile, row-major, for register `r`.
std::string element_number(const Context& context, const kernel::Buffer& buffer) {
  std::string text = "0";
  for (const AxisId axis : wide_axes(context, buffer.axes)) {
    const std::string part = fmt::format("({} + {} + {})",
                                         offset_text(buffer.fragment, axis, Place::Lane, "lane"),
                                         offset_text(buffer.fragment, axis, Place::Warp, "wave"),
                                         offset_text(buffer.fragment, axis, Place::Register, "q"));
    text =
        text == "0" ? part : fmt::format("({}) * {} + {}", text, context.program[axis].tile, part);
  }
  return text;
}

// Partial results of several waves meet in LDS: [element][wave].
void write_across_waves(const Context& context,
                        const kernel::Reduce& reduce,
                        const ReduceAccess& access,
                        std::string_view combine,
                        Writer& out) {
  const kernel::Buffer& buffer = context.program[reduce.to];
  const int64_t row = access.warps * 4;
  const std::string vector = vector_of(DType::F32, access.scratch_width);
  const std::string number = element_number(context, buffer);
  const std::string first = first_replica_text(buffer.fragment, Place::Lane, "lane");
  out.line("const lds_pointer scratch = lds + {};", context.plan.scratch_offset);
  out.raw("UNROLL");
  out.open("for (int q = 0; q < {}; ++q)", access.results);
  out.line("{}lds_write(scratch + ({}) * {} + ({}) * 4, part[q]);",
           first.empty() ? "" : fmt::format("if ({}) ", first),
           number,
           row,
           partial_index(context, reduce, access.domain));
  out.close();
  out.line("sync();");
  out.raw("UNROLL");
  out.open("for (int q = 0; q < {}; ++q)", access.results);
  out.raw("UNROLL");
  out.open("for (int w = 0; w < {}; w += {})", access.warps, access.scratch_width);
  out.line("const {} x = lds_read<{}>(scratch + ({}) * {} + w * 4);", vector, vector, number, row);
  if (access.scratch_width == 1) {
    out.line("part[q] = w == 0 ? x : {}(part[q], x);", combine);
  } else {
    out.raw("UNROLL");
    out.line("for (int e = 0; e < {}; ++e) part[q] = w + e == 0 ? x[e] : {}(part[q], x[e]);",
             access.scratch_width,
             combine);
  }
  out.close();
  out.close();
  out.line("sync();");
}

}  // namespace

std::vector<AxisId> placed_axes(const Context& context, const kernel::Expr& value) {
  std::set<AxisId> axes;
  for (const ExprNode& node : value.nodes) {
    if (node.op == ExprOp::Inside) axes.insert(node.axis);
    if (node.op != ExprOp::Tensor) continue;
    const std::vector<AxisId>& more = context.program[node.tensor].axes;
    axes.insert(more.begin(), more.end());
  }
  return {axes.begin(), axes.end()};
}

Result<std::string> evaluate(const Context& context,
                             const kernel::Expr& value,
                             const FragmentLayout& layout,
                             Writer& out) {
  if (const auto buffer = misplaced(context, value, layout)) {
    return unsupported(context,
                       fmt::format("operand '{}' lies with other threads than the result",
                                   context.program[*buffer].name));
  }
  Spelling spelling;
  spelling.dialect = &dialect();
  spelling.leaf = [&](const ExprNode& node) -> std::string {
    if (node.op == ExprOp::Extent) {
      return fmt::format("(float)({})", extent_name(context.program, node.axis));
    }
    if (node.op == ExprOp::Tensor) return tensor_value(context, node.tensor, layout);
    const kernel::Buffer& buffer = context.program[node.buffer];
    const auto axes = wide_axes(context, buffer.axes);
    return fragment_value(
        context, node.buffer, register_text(layout, buffer.fragment, axes, "r").value());
  };
  spelling.inside = [&](AxisId axis) {
    return fmt::format(
        "{} < {}", coordinate(context, layout, axis, "r"), extent_name(context.program, axis));
  };
  const ExpressionText text = print(value, spelling);
  for (const std::string& definition : text.definitions) out.raw(definition);
  return text.value;
}

Result<void> write_map(const Context& context, const kernel::Map& map, Writer& out) {
  const kernel::Buffer& buffer = context.program[map.to];
  out.begin();
  write_bases(context, buffer.fragment, placed_axes(context, map.value), out);
  out.raw("UNROLL");
  out.open("for (int r = 0; r < {}; ++r)", buffer.fragment.count(Place::Register));
  ORR_TRY(const std::string value, evaluate(context, map.value, buffer.fragment, out));
  out.line("{} = {};", element(context, map.to, "r"), stored(buffer.dtype, value));
  out.close();
  out.close();
  return {};
}

Result<void> write_reduce(const Context& context, const kernel::Reduce& reduce, Writer& out) {
  const ReduceAccess access = reduce_access(context.program, reduce);
  if (!access.domain.valid()) return unsupported(context, "a reduction without a fragment operand");
  const kernel::Buffer& buffer = context.program[reduce.to];
  const FragmentLayout& layout = context.program[access.domain].fragment;
  const auto into = register_text(layout, buffer.fragment, wide_axes(context, buffer.axes), "r");
  if (!into) {
    return unsupported(context, fmt::format("reduction into '{}' moves elements", buffer.name));
  }
  const bool sum = reduce.kind == kernel::ReduceKind::Sum;
  const std::string_view combine = sum ? "sum_of" : "max_of";
  out.begin();
  write_bases(context, layout, placed_axes(context, reduce.value), out);
  out.line("float part[{}];", access.results);
  out.raw("UNROLL");
  out.line("for (int q = 0; q < {}; ++q) part[q] = {};",
           access.results,
           sum ? "0.0f" : "-__builtin_inff()");
  out.raw("UNROLL");
  out.open("for (int r = 0; r < {}; ++r)", layout.count(Place::Register));
  ORR_TRY(const std::string value, evaluate(context, reduce.value, layout, out));
  out.line("part[{}] = {}(part[{}], {});", *into, combine, *into, value);
  out.close();
  out.raw("UNROLL");
  out.open("for (int q = 0; q < {}; ++q)", access.results);
  for (const int64_t mask : access.permuted_masks) {
    out.line("part[q] = {}(part[q], {}(part[q]));", combine, permutation(mask));
  }
  for (const int64_t mask : access.exchanged_masks) {
    out.line("part[q] = {}(part[q], exchange<{}>(part[q]));", combine, mask);
  }
  out.close();
  if (access.warps > 1) write_across_waves(context, reduce, access, combine, out);
  out.raw("UNROLL");
  out.line("for (int q = 0; q < {}; ++q) {} = {};",
           access.results,
           element(context, reduce.to, "q"),
           stored(buffer.dtype, "part[q]"));
  out.close();
  return {};
}

}  // namespace orrery::emit::hip
