// The decode-attention family: merging the partial results of a divided cache.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "orrery/kernel/family/build_internal.h"
#include "orrery/kernel/family/decode_attention_internal.h"
#include "orrery/kernel/geometry.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kWarps = 4;   // a query head each
constexpr int64_t kStep = 4;    // parts merged at a time: their loads are in flight together
constexpr int64_t kVector = 4;  // binary32 elements of 16 bytes

struct Merge {
  AxisId b, h, g, d, part;
  TensorId PO, PT, PS, O;
  StageId main;
  BufferId po, pt, ps;                         // [part, g, d], [part, g], [part, g]
  BufferId o, out;                             // [g, d]
  BufferId top, next, high, sum, add, shrink;  // [g]
  BufferId weight, gain;                       // [part, g], [g, d]
};

/// How a row of `head_dim` elements lies over lanes: width x used x rest elements.
struct RowSplit {
  int64_t width = 1;  // neighbours in a lane
  int64_t used = 1;   // lanes with elements of their own
};

/// As many lanes as possible (a power of two that divides the row), then the widest access.
RowSplit split_row(int64_t head_dim, int64_t lanes) {
  RowSplit best;
  for (int64_t width = 1; width <= kVector && head_dim % width == 0; width *= 2) {
    int64_t used = lanes;
    while (head_dim / width % used != 0) {
      used /= 2;
    }
    if (used >= best.used) {
      best = {.width = width, .used = used};
    }
  }
  return best;
}

FragmentLayout partial_layout(const DecodeConfig& config, const Merge& x) {
  const int64_t lanes = warp_size(config.target);
  const RowSplit row = split_row(config.head_dim, lanes);
  const int64_t step = row.width * row.used;
  Digits digits;
  digits.reg(row.width, x.d, 1).reg(config.head_dim / step, x.d, step);
  digits.reg(kStep, x.part, 1);
  digits.lane(row.used, x.d, row.width).replica(Place::Lane, lanes / row.used);
  return digits.warp(kWarps, x.g, 1).layout();
}

void add_axes(const DecodeConfig& config, Build& build, Merge& x) {
  x.b = build.add(grid("b", symbol("b"), 1));
  x.h = build.add(grid("h", symbol("h"), 1));
  x.g = build.add(grid("g", symbol("g"), kWarps));
  x.d = build.add(whole("d", fixed(config.head_dim), config.head_dim));
  x.part = build.add(walked("part", fixed(config.parts), kStep));
  const std::vector<AxisId> rows = {x.part, x.b, x.h, x.g};
  x.PO = build.add(Tensor{"PO", DType::F32, {x.part, x.b, x.h, x.g, x.d}, Access::Read});
  x.PT = build.add(Tensor{"PT", DType::F32, rows, Access::Read});
  x.PS = build.add(Tensor{"PS", DType::F32, rows, Access::Read});
  x.O = build.add(Tensor{"O", config.dtype, {x.b, x.h, x.g, x.d}, Access::Write});
  x.main = build.add(Stage{"main", StageKind::Consumer, kWarps, 0});
}

void add_buffers(const DecodeConfig& config, Build& build, Merge& x) {
  const FragmentLayout partial = partial_layout(config, x);
  const FragmentLayout part_row = without_axis(partial, x.d);
  const FragmentLayout tile = without_axis(partial, x.part);
  const FragmentLayout row = without_axis(tile, x.d);
  const auto fragment = [&](const char* name, std::vector<AxisId> axes, const FragmentLayout& l) {
    return build.add(Buffer{name, DType::F32, std::move(axes), Space::Fragment, 1, {}, l});
  };
  x.po = fragment("po", {x.part, x.g, x.d}, partial);
  x.pt = fragment("pt", {x.part, x.g}, part_row);
  x.ps = fragment("ps", {x.part, x.g}, part_row);
  x.weight = fragment("weight", {x.part, x.g}, part_row);
  x.o = fragment("o", {x.g, x.d}, tile);
  x.gain = fragment("gain", {x.g, x.d}, tile);
  x.top = fragment("top", {x.g}, row);
  x.next = fragment("next", {x.g}, row);
  x.high = fragment("high", {x.g}, row);
  x.sum = fragment("sum", {x.g}, row);
  x.add = fragment("add", {x.g}, row);
  x.shrink = fragment("shrink", {x.g}, row);
  x.out = build.add(Buffer{"out", config.dtype, {x.g, x.d}, Space::Fragment, 1, {}, tile});
}

Expr power_of_two(BufferId x, BufferId less) {
  return unary(ExprOp::Exp2, binary(ExprOp::Sub, buffer(x), buffer(less)));
}

/// x = x * shrink + y
void accumulate(Build& build, const Merge& x, BufferId into, BufferId more) {
  const Expr kept = binary(ExprOp::Mul, buffer(into), buffer(x.shrink));
  build.run(x.main, Map{into, binary(ExprOp::Add, kept, buffer(more))});
}

void add_loop(Build& build, const Merge& x) {
  build.loop(x.part);
  build.run(x.main, Load{x.pt, x.PT});
  build.run(x.main, Load{x.ps, x.PS});
  build.run(x.main, Load{x.po, x.PO});
  // Parts beyond the last one read as zeros: their maximum must not count.
  build.run(x.main, Map{x.pt, inside(x.part, buffer(x.pt), constant(kDecodeNothing))});
  build.run(x.main, Reduce{x.high, ReduceKind::Max, buffer(x.pt)});
  build.run(x.main, Map{x.next, binary(ExprOp::Max, buffer(x.top), buffer(x.high))});
  build.run(x.main, Map{x.shrink, power_of_two(x.top, x.next)});
  build.run(x.main, Map{x.weight, power_of_two(x.pt, x.next)});
  build.run(x.main, Map{x.top, buffer(x.next)});
  const auto weighted = [&](BufferId id) {
    return binary(ExprOp::Mul, buffer(id), buffer(x.weight));
  };
  build.run(x.main, Reduce{x.add, ReduceKind::Sum, weighted(x.ps)});
  build.run(x.main, Reduce{x.gain, ReduceKind::Sum, weighted(x.po)});
  accumulate(build, x, x.sum, x.add);
  accumulate(build, x, x.o, x.gain);
}

}  // namespace

Result<Program> decode_combine_program(const DecodeConfig& config) {
  ORR_TRY_VOID(check_decode(config));
  if (config.parts < 2) {
    return make_error(ErrorCode::InvalidInput,
                      "[kernel.decode_attention] nothing to combine: got parts {}, need at least 2",
                      config.parts);
  }
  Build build(
      fmt::format(
          "decode_combine_{}_d{}_parts{}", name(config.dtype), config.head_dim, config.parts),
      config.target);
  Merge x;
  add_axes(config, build, x);
  add_buffers(config, build, x);
  build.once();
  build.run(x.main, Map{x.o, constant(0)});
  build.run(x.main, Map{x.sum, constant(0)});
  build.run(x.main, Map{x.top, constant(kDecodeNothing)});
  add_loop(build, x);
  build.once();
  build.run(x.main, Map{x.out, binary(ExprOp::Div, buffer(x.o), buffer(x.sum))});
  build.run(x.main, Store{x.O, x.out, std::nullopt});
  build.program().raster.order = {x.g, x.h, x.b};
  return build.finish();
}

}  // namespace orrery::kernel
