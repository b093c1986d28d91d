// The GEMM family: summing the partial results of a divided walk over k.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "orrery/kernel/family/gemm_internal.h"
#include "orrery/kernel/geometry.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kVector = 4;     // binary32 elements of 16 bytes
constexpr int64_t kWarps = 4;      // each with a row of the tile
constexpr int64_t kMaxParts = 32;  // all parts of a vector are in registers: 4 x 32

struct Combine {
  AxisId m, n, part;
  TensorId P, C;
  StageId main;
  BufferId p, sum, c;
};

/// Rows over warps, columns in vectors over lanes, `parts` of them in registers.
FragmentLayout tile_layout(const Combine& g, int64_t lanes, int64_t parts) {
  Digits digits;
  digits.reg(kVector, g.n, 1).reg(parts, g.part, 1);
  return digits.lane(lanes, g.n, kVector).warp(kWarps, g.m, 1).layout();
}

void add_buffers(const GemmConfig& config, Build& build, Combine& g) {
  const int64_t lanes = warp_size(config.target);
  const FragmentLayout tile = tile_layout(g, lanes, 1);
  g.p = build.add(Buffer{"p",
                         DType::F32,
                         {g.part, g.m, g.n},
                         Space::Fragment,
                         1,
                         {},
                         tile_layout(g, lanes, config.parts)});
  g.sum = build.add(Buffer{"sum", DType::F32, {g.m, g.n}, Space::Fragment, 1, {}, tile});
  g.c = build.add(Buffer{"c", config.dtype, {g.m, g.n}, Space::Fragment, 1, {}, tile});
}

}  // namespace

Result<Program> gemm_combine_program(const GemmConfig& config) {
  const std::string title =
      fmt::format("gemm_combine_{}_parts{}", name(config.dtype), config.parts);
  if (config.parts < 2 || config.parts > kMaxParts) {
    return make_error(ErrorCode::InvalidInput,
                      "[kernel.gemm] no such kernel '{}': parts: got {}, need 2 to {}",
                      title,
                      config.parts,
                      kMaxParts);
  }
  Build build(title, config.target);
  Combine g;
  g.m = build.add(grid("m", symbol("m"), kWarps));
  g.n = build.add(grid("n", symbol("n"), kVector * warp_size(config.target), kGemmMultiple));
  g.part = build.add(whole("part", fixed(config.parts), config.parts));
  g.P = build.add(Tensor{"P", DType::F32, {g.part, g.m, g.n}, Access::Read});
  const std::vector<TensorId> operands = add_epilogue_tensors(config.epilogue, g.m, g.n, build);
  g.C = build.add(Tensor{"C", config.dtype, {g.m, g.n}, Access::Write});
  g.main = build.add(Stage{"main", StageKind::Consumer, kWarps, 0});
  add_buffers(config, build, g);
  ORR_TRY(Expr value, bind(config.epilogue, {g.sum, operands, g.m, g.n}));
  build.once();
  build.run(g.main, Load{g.p, g.P});
  build.run(g.main, Reduce{g.sum, ReduceKind::Sum, buffer(g.p)});
  build.run(g.main, Map{g.c, std::move(value)});
  build.run(g.main, Store{g.C, g.c, std::nullopt});
  build.program().raster.order = {g.n, g.m};
  return build.finish();
}

}  // namespace orrery::kernel
