// The family of residual addition with RMS normalisation: its programs and configurations.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/family/add_rms_norm.h"

#include <fmt/core.h>

#include <array>

#include "orrery/kernel/family/build_internal.h"
#include "orrery/kernel/family/reasons_internal.h"
#include "orrery/kernel/geometry.h"
#include "orrery/kernel/limits.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kVectorBytes = 16;  // widest access of a thread
constexpr int64_t kMaxHeld = 64;  // elements of a row in a thread: x, r, h and w are alive together

int64_t width_of(const AddRmsNormConfig& config) {
  return config.aligned ? kVectorBytes / static_cast<int64_t>(element_size(config.dtype).value())
                        : 1;
}

struct Norm {
  AxisId row, col;
  TensorId X, R, W, H, Y;
  StageId main;
  BufferId x, r, w, h, sum, scale, y;
};

FragmentLayout row_layout(const AddRmsNormConfig& config, const Norm& g) {
  const int64_t width = width_of(config);
  const int64_t lanes = warp_size(config.target);
  Digits digits;
  digits.reg(width, g.col, 1).reg(config.vectors, g.col, width * lanes * config.row_warps);
  digits.lane(lanes, g.col, width);
  digits.warp(config.row_warps, g.col, width * lanes).warp(config.rows, g.row, 1);
  return digits.layout();
}

void add_tensors(const AddRmsNormConfig& config, Build& build, Norm& g) {
  const int64_t multiple = config.aligned ? width_of(config) : 1;
  g.row = build.add(grid("row", symbol("rows"), config.rows));
  const int64_t tile = tile_cols(config);
  g.col = build.add(config.looped ? walked("col", symbol("cols"), tile, multiple)
                                  : whole("col", symbol("cols"), tile, multiple));
  const std::vector<AxisId> axes = {g.row, g.col};
  g.X = build.add(Tensor{"X", config.dtype, axes, Access::Read});
  g.R = build.add(Tensor{"R", config.dtype, axes, Access::Read});
  g.W = build.add(Tensor{"W", config.dtype, {g.col}, Access::Read});
  g.H =
      build.add(Tensor{"H", config.dtype, axes, config.looped ? Access::ReadWrite : Access::Write});
  g.Y = build.add(Tensor{"Y", config.dtype, axes, Access::Write});
}

void add_buffers(const AddRmsNormConfig& config, Build& build, Norm& g) {
  const FragmentLayout tile = row_layout(config, g);
  const FragmentLayout per_row = without_axis(tile, g.col);
  const FragmentLayout per_col = without_axis(tile, g.row);
  const auto fragment =
      [&](const char* name, DType dtype, std::vector<AxisId> axes, const FragmentLayout& layout) {
        return build.add(Buffer{name, dtype, std::move(axes), Space::Fragment, 1, {}, layout});
      };
  g.x = fragment("x", config.dtype, {g.row, g.col}, tile);
  g.r = fragment("r", config.dtype, {g.row, g.col}, tile);
  g.w = fragment("w", config.dtype, {g.col}, per_col);
  g.h = fragment("h", config.dtype, {g.row, g.col}, tile);
  g.sum = fragment("sum", DType::F32, {g.row}, per_row);
  g.scale = fragment("scale", DType::F32, {g.row}, per_row);
  g.y = fragment("y", config.dtype, {g.row, g.col}, tile);
}

Expr square(BufferId id) {
  return binary(ExprOp::Mul, buffer(id), buffer(id));
}

/// h = x + r; H <- h
void add_residual(Build& build, const Norm& g) {
  build.run(g.main, Load{g.x, g.X});
  build.run(g.main, Load{g.r, g.R});
  build.run(g.main, Map{g.h, binary(ExprOp::Add, buffer(g.x), buffer(g.r))});
  build.run(g.main, Store{g.H, g.h, std::nullopt});
}

/// scale = rsqrt(sum / cols + eps)
void add_scale(const AddRmsNormConfig& config, Build& build, const Norm& g) {
  const Expr mean = binary(ExprOp::Div, buffer(g.sum), extent(g.col));
  build.run(g.main,
            Map{g.scale, unary(ExprOp::Rsqrt, binary(ExprOp::Add, mean, constant(config.eps)))});
}

/// y = h * scale * w; Y <- y
void add_result(Build& build, const Norm& g) {
  const Expr scaled = binary(ExprOp::Mul, buffer(g.h), buffer(g.scale));
  build.run(g.main, Map{g.y, binary(ExprOp::Mul, scaled, buffer(g.w))});
  build.run(g.main, Store{g.Y, g.y, std::nullopt});
}

void add_held(const AddRmsNormConfig& config, Build& build, const Norm& g) {
  build.once();
  build.run(g.main, Load{g.w, g.W});
  add_residual(build, g);
  build.run(g.main, Reduce{g.sum, ReduceKind::Sum, square(g.h)});
  add_scale(config, build, g);
  add_result(build, g);
}

void add_looped(const AddRmsNormConfig& config, Build& build, Norm& g) {
  const BufferId part = build.add(Buffer{"part",
                                         DType::F32,
                                         {g.row},
                                         Space::Fragment,
                                         1,
                                         {},
                                         build.program().buffers[g.sum.index()].fragment});
  build.once();
  build.run(g.main, Map{g.sum, constant(0)});
  build.loop(g.col);
  add_residual(build, g);
  build.run(g.main, Reduce{part, ReduceKind::Sum, square(g.h)});
  build.run(g.main, Map{g.sum, binary(ExprOp::Add, buffer(g.sum), buffer(part))});
  build.once();
  add_scale(config, build, g);
  build.loop(g.col);
  build.run(g.main, Load{g.h, g.H});
  build.run(g.main, Load{g.w, g.W});
  add_result(build, g);
}

Result<void> check(const AddRmsNormConfig& c) {
  Reasons reasons;
  const bool positive = c.rows > 0 && c.row_warps > 0 && c.vectors > 0;
  reasons.unless(positive, [&] {
    return fmt::format("sizes: got rows {}, row warps {}, vectors {}, need all positive",
                       c.rows,
                       c.row_warps,
                       c.vectors);
  });
  const bool typed = c.dtype == DType::BF16 || c.dtype == DType::F16 || c.dtype == DType::F32;
  reasons.unless(typed,
                 [&] { return fmt::format("type: got {}, need bf16, f16 or f32", name(c.dtype)); });
  if (positive && typed) {
    const int64_t threads = c.rows * c.row_warps * warp_size(c.target);
    const int64_t most = target_limits(c.target).threads_per_cta;
    reasons.unless(threads <= most, [&] {
      return fmt::format("threads of a CTA: got {}, need at most {}", threads, most);
    });
    const int64_t held = width_of(c) * c.vectors;
    reasons.unless(held <= kMaxHeld, [&] {
      return fmt::format("elements held by a thread: got {}, need at most {}", held, kMaxHeld);
    });
  }
  reasons.unless(c.eps >= 0, [&] { return fmt::format("eps: got {}, need at least 0", c.eps); });
  return reasons.none() ? Result<void>() : reasons.result("add_rms_norm", kernel_name(c));
}

}  // namespace

int64_t tile_cols(const AddRmsNormConfig& config) {
  return width_of(config) * config.vectors * warp_size(config.target) * config.row_warps;
}

std::string kernel_name(const AddRmsNormConfig& config) {
  return fmt::format("add_rms_norm_{}_{}{}x{}w_v{}{}",
                     name(config.dtype),
                     config.looped ? "looped_" : "",
                     config.rows,
                     config.row_warps,
                     config.vectors,
                     config.aligned ? "" : "_unaligned");
}

Result<Program> add_rms_norm_program(const AddRmsNormConfig& config) {
  ORR_TRY_VOID(check(config));
  Build build(kernel_name(config), config.target);
  Norm g;
  add_tensors(config, build, g);
  g.main = build.add(Stage{"main", StageKind::Consumer, config.rows * config.row_warps, 0});
  add_buffers(config, build, g);
  if (config.looped) {
    add_looped(config, build, g);
  } else {
    add_held(config, build, g);
  }
  build.program().raster.order = {g.row};
  return build.finish();
}

namespace {

constexpr std::array<int64_t, 10> kVectors = {1, 2, 3, 4, 5, 6, 8, 16, 32, 64};
constexpr std::array<int64_t, 4> kRows = {1, 2, 4, 8};
constexpr int64_t kSharedByWarps = 4;  // rows of more warps have a CTA of their own

/// Rows held in registers: for each number of vectors as many warps as the row needs.
void offer_held(AddRmsNormConfig config, int64_t rows, int64_t cols, int64_t cores, auto&& offer) {
  for (const int64_t vectors : kVectors) {
    config.vectors = vectors;
    config.row_warps = 1;
    const int64_t unit = tile_cols(config);
    if (vectors > 1 && unit / vectors * (vectors - 1) >= cols) {
      break;  // the last vector of every thread would be empty
    }
    config.row_warps = (cols + unit - 1) / unit;
    for (const int64_t per_cta : kRows) {
      config.rows = per_cta;
      // Several short rows a CTA only if every core still gets one.
      if (per_cta == 1 || (config.row_warps <= kSharedByWarps && rows >= per_cta * cores)) {
        offer(config);
      }
    }
  }
}

void offer_looped(AddRmsNormConfig config, int64_t cols, auto&& offer) {
  config.rows = 1;
  config.looped = true;
  config.vectors = config.aligned ? 4 : 8;
  for (const int64_t row_warps : {8, 16, 32}) {
    config.row_warps = row_warps;
    if (tile_cols(config) < cols) {
      offer(config);
    }
  }
}

}  // namespace

std::vector<AddRmsNormConfig> add_rms_norm_configs(int64_t rows,
                                                   int64_t cols,
                                                   const machine::Chip& chip,
                                                   const AddRmsNormConfig& base) {
  std::vector<AddRmsNormConfig> found;
  const auto offer = [&](const AddRmsNormConfig& config) {
    if (add_rms_norm_program(config).ok()) {
      found.push_back(config);
    }
  };
  AddRmsNormConfig config = base;
  config.aligned = cols % 8 == 0;
  config.looped = false;
  offer_held(config, rows, cols, chip.core.count, offer);
  offer_looped(config, cols, offer);
  return found;
}

}  // namespace orrery::kernel
