// The GEMM family: building the program of a configuration.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/family/gemm.h"

#include <fmt/core.h>

#include <algorithm>

#include "orrery/kernel/family/build_internal.h"
#include "orrery/kernel/family/gemm_internal.h"
#include "orrery/kernel/mma_layout.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kPanel = 64;             // elements of 2 bytes in a 128-byte swizzle atom
constexpr int64_t kMaxInstructionN = 256;  // of wgmma
constexpr int64_t kWarpgroup = 4;
constexpr int64_t kProducerRegisters = 40;
constexpr int64_t kConsumerRegisters = 232;  // 8 x 32 x 232 + 4 x 32 x 40 = 64,512 of 65,536

/// The ids of a program under construction.
struct Gemm {
  AxisId m, n, k;
  std::optional<AxisId> part;
  TensorId A, B, C;
  StageId load, main;
  BufferId a, b, acc;
};

FragmentLayout accumulator_of(const GemmConfig& config, const GemmSides& sides) {
  return mma_accumulator_layout(config.target, sides.instruction, sides.rows, sides.columns)
      .value();
}

void add_axes(const GemmConfig& config, Build& build, Gemm& g) {
  g.m = build.add(grid("m", symbol("m"), config.tile_m));
  g.n = build.add(grid("n", symbol("n"), config.tile_n, kGemmMultiple));
  g.k = build.add(walked("k", symbol("k"), config.tile_k, kGemmMultiple));
  if (config.parts > 1) {
    g.part = build.add(grid("part", fixed(config.parts), 1));
    build.program().axes[g.k.index()].parts = g.part;
  }
}

void add_stages(const GemmConfig& config, Build& build, Gemm& g) {
  // Two warpgroups need more registers than an even share: the producer's warpgroup gives its own
  // away.
  const bool reassign = config.target == Target::Sm90a && config.warps > kWarpgroup;
  g.main = build.add(Stage{.name = "main",
                           .kind = StageKind::Consumer,
                           .warps = config.warps,
                           .registers = reassign ? kConsumerRegisters : 0});
  g.load = g.main;
  if (config.target == Target::Sm90a) {
    g.load = build.add(Stage{.name = "load",
                             .kind = StageKind::Producer,
                             .warps = reassign ? kWarpgroup : 1,
                             .registers = reassign ? kProducerRegisters : 0});
  }
}

SharedLayout operand_layout(const GemmConfig& config) {
  if (config.target == Target::Sm90a) {
    return {.panel = kPanel, .swizzle = 2 * kPanel, .pad = 0, .resident = 0};
  }
  return {.panel = 0, .swizzle = 0, .pad = config.pad, .resident = 0};
}

void add_operands(const GemmConfig& config, Build& build, Gemm& g) {
  g.A = build.add(Tensor{"A", config.dtype, {g.m, g.k}, Access::Read});
  g.B = build.add(Tensor{"B", config.dtype, {g.n, g.k}, Access::Read});
  const SharedLayout shared = operand_layout(config);
  g.a = build.add(Buffer{"a", config.dtype, {g.m, g.k}, Space::Shared, config.ring, shared, {}});
  g.b = build.add(Buffer{"b", config.dtype, {g.n, g.k}, Space::Shared, config.ring, shared, {}});
}

void add_main_loop(const GemmConfig& config, const GemmSides& sides, Build& build, Gemm& g) {
  const std::vector<AxisId> axes = {sides.rows.axis, sides.columns.axis};
  g.acc = build.add(
      Buffer{"acc", DType::F32, axes, Space::Fragment, 1, {}, accumulator_of(config, sides)});
  build.once();
  build.run(g.main, Map{g.acc, constant(0)});
  build.loop(g.k);
  build.run(g.load, Load{g.a, g.A});
  build.run(g.load, Load{g.b, g.B});
  const BufferId first = config.swapped ? g.b : g.a;
  const BufferId second = config.swapped ? g.a : g.b;
  build.run(g.main, Mma{g.acc, first, second, sides.instruction});
}

/// Panel of the staging buffer: the widest of 64 and 32 elements that divides the tile of C's last
/// axis.
int64_t store_panel(int64_t tile) {
  return tile % kPanel == 0 ? kPanel : kPanel / 2;
}

Result<void> add_store(const GemmConfig& config, const GemmSides& sides, Build& build, Gemm& g) {
  const std::vector<TensorId> operands = add_epilogue_tensors(config.epilogue, g.m, g.n, build);
  g.C = build.add(Tensor{"C", config.dtype, {g.m, g.n}, Access::Write});
  ORR_TRY(Expr value, bind(config.epilogue, {g.acc, operands, g.m, g.n}));
  const std::vector<AxisId> axes = {sides.rows.axis, sides.columns.axis};
  const BufferId c = build.add(
      Buffer{"c", config.dtype, axes, Space::Fragment, 1, {}, accumulator_of(config, sides)});
  build.once();
  build.run(g.main, Map{c, std::move(value)});
  std::optional<BufferId> via;
  if (config.target == Target::Sm90a) {
    const int64_t panel = store_panel(config.tile_n);
    const int64_t resident = config.swapped ? config.warps / kWarpgroup : 1;
    const SharedLayout shared = {
        .panel = panel, .swizzle = 2 * panel, .pad = 0, .resident = resident};
    via = build.add(
        Buffer{"out", config.dtype, {g.m, g.n}, Space::Shared, config.store_ring, shared, {}});
  }
  build.run(g.main, Store{g.C, c, via});
  return {};
}

void add_partial_store(Build& build, Gemm& g) {
  g.C = build.add(Tensor{"P", DType::F32, {*g.part, g.m, g.n}, Access::Write});
  build.once();
  build.run(g.main, Store{g.C, g.acc, std::nullopt});
}

void set_schedule(const GemmConfig& config, Program& program, const Gemm& g) {
  program.raster.order = {g.m, g.n};
  program.raster.group = config.group;
  if (g.part) {
    program.raster.order.push_back(*g.part);
  }
  if (config.cluster_m > 1) {
    program.cluster = Cluster{g.m, config.cluster_m};
  } else if (config.cluster_n > 1) {
    program.cluster = Cluster{g.n, config.cluster_n};
  }
  program.persistent = config.persistent;
  program.ctas_per_sm = config.ctas_per_sm;
}

}  // namespace

GemmSides gemm_sides(const GemmConfig& config) {
  GemmSides sides;
  sides.rows = {AxisId(config.swapped ? 1U : 0U),
                config.swapped ? config.tile_n : config.tile_m,
                config.warps / std::max<int64_t>(1, config.column_warps)};
  sides.columns = {AxisId(config.swapped ? 0U : 1U),
                   config.swapped ? config.tile_m : config.tile_n,
                   config.column_warps};
  if (config.target == Target::Sm90a) {
    // Wider tiles take two instructions side by side.
    const int64_t columns = sides.columns.tile;
    sides.instruction = {64, columns > kMaxInstructionN ? columns / 2 : columns, 16};
  } else {
    sides.instruction = config.instruction == MmaShape{} ? MmaShape{32, 32, 8} : config.instruction;
  }
  return sides;
}

std::vector<TensorId> add_epilogue_tensors(const Epilogue& epilogue,
                                           AxisId rows,
                                           AxisId cols,
                                           Build& build) {
  std::vector<TensorId> ids;
  for (const EpilogueTensor& operand : epilogue.tensors) {
    std::vector<AxisId> axes;
    if (operand.rows) {
      axes.push_back(rows);
    }
    if (operand.cols) {
      axes.push_back(cols);
    }
    ids.push_back(build.add(Tensor{operand.name, operand.dtype, axes, Access::Read}));
  }
  return ids;
}

std::string kernel_name(const GemmConfig& config) {
  std::string text = fmt::format("gemm_{}_{}x{}x{}_r{}",
                                 name(config.dtype),
                                 config.tile_m,
                                 config.tile_n,
                                 config.tile_k,
                                 config.ring);
  if (config.swapped) {
    text += "_swapped";
  }
  if (config.cluster_m > 1) {
    text += fmt::format("_m{}", config.cluster_m);
  }
  if (config.cluster_n > 1) {
    text += fmt::format("_n{}", config.cluster_n);
  }
  if (config.parts > 1) {
    text += fmt::format("_parts{}", config.parts);
  }
  return text;
}

Result<Program> gemm_program(const GemmConfig& config) {
  ORR_TRY_VOID(check_gemm(config));
  const GemmSides sides = gemm_sides(config);
  Build build(kernel_name(config), config.target);
  Gemm g;
  add_axes(config, build, g);
  add_stages(config, build, g);
  add_operands(config, build, g);
  add_main_loop(config, sides, build, g);
  if (g.part) {
    add_partial_store(build, g);
  } else {
    ORR_TRY_VOID(add_store(config, sides, build, g));
  }
  set_schedule(config, build.program(), g);
  return build.finish();
}

}  // namespace orrery::kernel
