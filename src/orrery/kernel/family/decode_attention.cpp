// The family of decode attention: building the program of a configuration.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/family/decode_attention.h"

#include <fmt/core.h>

#include <cmath>
#include <numbers>
#include <optional>

#include "orrery/kernel/family/build_internal.h"
#include "orrery/kernel/family/decode_attention_internal.h"
#include "orrery/kernel/mma_layout.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kPanel = 64;  // elements of 2 bytes in a 128-byte swizzle atom

/// The ids of a program under construction.
struct Decode {
  AxisId b, h, g, s, d;
  std::optional<AxisId> part;
  TensorId Q, K, V;
  StageId load, main;
  BufferId q, k, v;
  BufferId scores, p, o;                       // [g, s], [g, s], [g, d] in the instruction's order
  BufferId top, next, high, sum, add, shrink;  // [g]
  MmaShape scores_shape, output_shape;
};

bool hopper(const DecodeConfig& config) {
  return config.target == Target::Sm90a;
}

void add_axes(const DecodeConfig& config, Build& build, Decode& x) {
  x.b = build.add(grid("b", symbol("b"), 1));
  x.h = build.add(grid("h", symbol("h"), 1));
  x.g = build.add(whole("g", symbol("g"), config.group));
  x.s = build.add(walked("s", symbol("s"), config.tile_s));
  x.d = build.add(whole("d", fixed(config.head_dim), config.head_dim));
  if (config.parts > 1) {
    x.part = build.add(grid("part", fixed(config.parts), 1));
    build.program().axes[x.s.index()].parts = x.part;
  }
  const std::vector<AxisId> cache = {x.b, x.h, x.s, x.d};
  x.Q = build.add(Tensor{"Q", config.dtype, {x.b, x.h, x.g, x.d}, Access::Read});
  x.K = build.add(Tensor{"K", config.dtype, cache, Access::Read});
  x.V = build.add(Tensor{"V", config.dtype, cache, Access::Read});
}

void add_stages(const DecodeConfig& config, Build& build, Decode& x) {
  x.main = build.add(Stage{"main", StageKind::Consumer, hopper(config) ? 4 : 1, 0});
  x.load = x.main;
  if (hopper(config)) {
    x.load = build.add(Stage{"load", StageKind::Producer, 1, 0});
  }
}

/// Layouts of q, the scores, p and o, as the target's two products want them.
struct Layouts {
  FragmentLayout q;  // gfx942 only
  FragmentLayout scores;
  FragmentLayout p;
  FragmentLayout o;
};

Result<Layouts> hopper_layouts(const DecodeConfig& config, Decode& x) {
  x.scores_shape = {64, config.tile_s, 16};
  x.output_shape = {64, config.head_dim, 16};
  const MmaSide rows{x.g, config.group, 4};
  Layouts l;
  ORR_TRY(l.scores,
          mma_accumulator_layout(config.target, x.scores_shape, rows, {x.s, config.tile_s, 1}));
  ORR_TRY(
      l.p,
      mma_first_operand_layout(config.target, x.output_shape, rows, {x.s, config.tile_s, 1}, 1));
  ORR_TRY(l.o,
          mma_accumulator_layout(config.target, x.output_shape, rows, {x.d, config.head_dim, 1}));
  return l;
}

Result<Layouts> cdna_layouts(const DecodeConfig& config, Decode& x) {
  x.scores_shape = {16, 16, 16};
  x.output_shape = {16, 16, 16};
  const MmaSide columns{x.g, config.group, 1};
  const MmaSide keys{x.s, config.tile_s, 1};
  const MmaSide depth{x.d, config.head_dim, 1};
  Layouts l;
  ORR_TRY(l.q, mma_second_operand_layout(config.target, x.scores_shape, columns, depth, 1));
  ORR_TRY(l.scores, mma_accumulator_layout(config.target, x.scores_shape, keys, columns));
  ORR_TRY(l.p, mma_second_operand_layout(config.target, x.output_shape, columns, keys, 1));
  ORR_TRY(l.o, mma_accumulator_layout(config.target, x.output_shape, depth, columns));
  return l;
}

void add_operands(const DecodeConfig& config, const Layouts& l, Build& build, Decode& x) {
  SharedLayout cache{.panel = 0, .swizzle = 0, .pad = 8, .resident = 0};
  if (hopper(config)) {
    cache = {.panel = kPanel, .swizzle = 2 * kPanel, .pad = 0, .resident = 0};
    x.q = build.add(Buffer{"q", config.dtype, {x.g, x.d}, Space::Shared, 1, cache, {}});
  } else {
    x.q = build.add(Buffer{"q", config.dtype, {x.g, x.d}, Space::Fragment, 1, {}, l.q});
  }
  const std::vector<AxisId> axes = {x.s, x.d};
  x.k = build.add(Buffer{"k", config.dtype, axes, Space::Shared, config.ring, cache, {}});
  x.v = build.add(Buffer{"v", config.dtype, axes, Space::Shared, config.ring, cache, {}});
}

void add_fragments(const DecodeConfig& config, const Layouts& l, Build& build, Decode& x) {
  const auto tile = [&](const char* name, DType dtype, AxisId axis, const FragmentLayout& layout) {
    std::vector<AxisId> axes = {x.g, axis};
    if (!hopper(config)) {
      axes = {axis, x.g};
    }
    return build.add(Buffer{name, dtype, axes, Space::Fragment, 1, {}, layout});
  };
  x.scores = tile("scores", DType::F32, x.s, l.scores);
  x.p = tile("p", config.dtype, x.s, l.p);
  x.o = tile("o", DType::F32, x.d, l.o);
  const FragmentLayout per_row = without_axis(l.scores, x.s);
  const auto row = [&](const char* name) {
    return build.add(Buffer{name, DType::F32, {x.g}, Space::Fragment, 1, {}, per_row});
  };
  x.top = row("top");
  x.next = row("next");
  x.high = row("high");
  x.sum = row("sum");
  x.add = row("add");
  x.shrink = row("shrink");
}

void add_start(Build& build, const Decode& x) {
  build.once();
  build.run(x.load, Load{x.q, x.Q});
  build.run(x.main, Map{x.o, constant(0)});
  build.run(x.main, Map{x.top, constant(kDecodeNothing)});
  build.run(x.main, Map{x.sum, constant(0)});
}

void run_product(const DecodeConfig& config, Build& build, const Decode& x, bool scores) {
  const BufferId acc = scores ? x.scores : x.o;
  const BufferId query = scores ? x.q : x.p;
  const BufferId cache = scores ? x.k : x.v;
  const MmaShape shape = scores ? x.scores_shape : x.output_shape;
  build.run(x.main, hopper(config) ? Mma{acc, query, cache, shape} : Mma{acc, cache, query, shape});
}

Expr power_of_two(const Expr& x, BufferId less) {
  return unary(ExprOp::Exp2, binary(ExprOp::Sub, x, buffer(less)));
}

void add_loop(const DecodeConfig& config, Build& build, const Decode& x) {
  const Expr scale = constant(base_two_scale(config));
  const auto scaled = [&](BufferId id) { return binary(ExprOp::Mul, buffer(id), scale); };
  build.loop(x.s);
  build.run(x.load, Load{x.k, x.K});
  build.run(x.load, Load{x.v, x.V});
  build.run(x.main, Map{x.scores, constant(0)});
  run_product(config, build, x, true);
  build.run(x.main, Map{x.scores, inside(x.s, buffer(x.scores), constant(kDecodeNothing))});
  build.run(x.main, Reduce{x.high, ReduceKind::Max, buffer(x.scores)});
  build.run(x.main, Map{x.next, binary(ExprOp::Max, buffer(x.top), scaled(x.high))});
  build.run(x.main, Map{x.scores, power_of_two(scaled(x.scores), x.next)});
  build.run(x.main, Map{x.p, buffer(x.scores)});
  build.run(x.main, Reduce{x.add, ReduceKind::Sum, buffer(x.scores)});
  build.run(x.main, Map{x.shrink, power_of_two(buffer(x.top), x.next)});
  build.run(x.main, Map{x.top, buffer(x.next)});
  const Expr kept = binary(ExprOp::Mul, buffer(x.sum), buffer(x.shrink));
  build.run(x.main, Map{x.sum, binary(ExprOp::Add, kept, buffer(x.add))});
  build.run(x.main, Map{x.o, binary(ExprOp::Mul, buffer(x.o), buffer(x.shrink))});
  run_product(config, build, x, false);
}

void add_output(const DecodeConfig& config, Build& build, const Decode& x) {
  const Buffer o = build.program().buffers[x.o.index()];
  const TensorId O = build.add(Tensor{"O", config.dtype, {x.b, x.h, x.g, x.d}, Access::Write});
  const BufferId out =
      build.add(Buffer{"out", config.dtype, o.axes, Space::Fragment, 1, {}, o.fragment});
  build.once();
  build.run(x.main, Map{out, binary(ExprOp::Div, buffer(x.o), buffer(x.sum))});
  build.run(x.main, Store{O, out, std::nullopt});
}

void add_partial_output(Build& build, const Decode& x) {
  const std::vector<AxisId> rows = {*x.part, x.b, x.h, x.g};
  std::vector<AxisId> tile = rows;
  tile.push_back(x.d);
  const TensorId PO = build.add(Tensor{"PO", DType::F32, tile, Access::Write});
  const TensorId PT = build.add(Tensor{"PT", DType::F32, rows, Access::Write});
  const TensorId PS = build.add(Tensor{"PS", DType::F32, rows, Access::Write});
  build.once();
  build.run(x.main, Store{PO, x.o, std::nullopt});
  build.run(x.main, Store{PT, x.top, std::nullopt});
  build.run(x.main, Store{PS, x.sum, std::nullopt});
}

}  // namespace

double base_two_scale(const DecodeConfig& config) {
  const double scale =
      config.scale > 0 ? config.scale : 1 / std::sqrt(static_cast<double>(config.head_dim));
  return scale * std::numbers::log2e;
}

std::string kernel_name(const DecodeConfig& config) {
  return fmt::format("decode_{}_d{}_g{}_s{}_r{}{}",
                     name(config.dtype),
                     config.head_dim,
                     config.group,
                     config.tile_s,
                     config.ring,
                     config.parts > 1 ? fmt::format("_parts{}", config.parts) : "");
}

Result<Program> decode_attention_program(const DecodeConfig& config) {
  ORR_TRY_VOID(check_decode(config));
  Build build(kernel_name(config), config.target);
  Decode x;
  add_axes(config, build, x);
  add_stages(config, build, x);
  ORR_TRY(const Layouts layouts,
          hopper(config) ? hopper_layouts(config, x) : cdna_layouts(config, x));
  add_operands(config, layouts, build, x);
  add_fragments(config, layouts, build, x);
  add_start(build, x);
  add_loop(config, build, x);
  if (x.part) {
    add_partial_output(build, x);
  } else {
    add_output(config, build, x);
  }
  Program& program = build.program();
  if (x.part) {
    program.raster.order.push_back(*x.part);
  }
  program.raster.order.push_back(x.h);
  program.raster.order.push_back(x.b);
  program.ctas_per_sm = config.ctas_per_sm;
  return build.finish();
}

}  // namespace orrery::kernel
