// Layouts that matrix instructions prescribe: the patterns of wgmma and MFMA, tiled over warps.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/mma_layout.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "orrery/base/check.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kWarpgroup = 4;  // warps that issue a wgmma together (PTX ISA, "warpgroup")

bool is_16_bit(DType type) {
  return type == DType::F16 || type == DType::BF16;
}

// PTX ISA, "wgmma.mma_async", shapes: m64nNk16 for f16 and bf16, N a multiple of 8 from 8 to 256.
bool is_wgmma(MmaShape shape) {
  return shape.m == 64 && shape.k == 16 && shape.n >= 8 && shape.n <= 256 && shape.n % 8 == 0;
}

// MI300 ISA: the dense 16-bit MFMA with one block.
constexpr std::array kMfmaShapes = {MmaShape{32, 32, 8}, MmaShape{16, 16, 16}};

bool is_mfma(MmaShape shape) {
  return std::ranges::find(kMfmaShapes, shape) != kMfmaShapes.end();
}

std::string_view shapes(Target target) {
  switch (target) {
    case Target::Sm90a:
      return "m64nNk16 with N a multiple of 8 from 8 to 256";
    case Target::Gfx942:
      return "m32n32k8 or m16n16k16";
  }
  ORR_UNREACHABLE();
}

Result<void> check_shape(Target target, MmaShape shape) {
  if (target == Target::Sm90a ? is_wgmma(shape) : is_mfma(shape)) return {};
  return make_error(ErrorCode::InvalidInput,
                    "[kernel.mma_layout] no such matrix instruction on {}: got m{}n{}k{}, need {}",
                    name(target),
                    shape.m,
                    shape.n,
                    shape.k,
                    shapes(target));
}

// The tile of a side must be a positive multiple of `step`, what its warps cover with one
// instruction each.
Result<void> check_side(std::string_view side, int64_t tile, int64_t step) {
  if (tile > 0 && step > 0 && tile % step == 0) return {};
  return make_error(ErrorCode::InvalidInput,
                    "[kernel.mma_layout] tile of the {}: got {}, need a multiple of {} "
                    "(instruction x warps)",
                    side,
                    tile,
                    step);
}

Result<void> check_warps(Target target, int64_t row_warps, int64_t column_warps) {
  const int64_t unit = target == Target::Sm90a ? kWarpgroup : 1;
  if (row_warps > 0 && column_warps > 0 && row_warps % unit == 0) return {};
  return make_error(ErrorCode::InvalidInput,
                    "[kernel.mma_layout] warps: got {} along the rows and {} along the columns, "
                    "need a positive multiple of {} and at least 1",
                    row_warps,
                    column_warps,
                    unit);
}

// Adds digits to a layout; those of extent 1 are left out.
class Builder {
 public:
  explicit Builder(Place place) : place_(place) {}

  Builder& at(Place place) {
    place_ = place;
    return *this;
  }

  Builder& move(AxisId axis, int64_t extent, int64_t stride) {
    if (extent > 1) layout_.digits.push_back({place_, extent, axis, stride});
    return *this;
  }

  Builder& copies(int64_t extent) {
    if (extent > 1) layout_.digits.push_back({place_, extent, std::nullopt, 0});
    return *this;
  }

  FragmentLayout done() { return std::move(layout_); }

 private:
  Place place_;
  FragmentLayout layout_;
};

// An operand or accumulator of wgmma: rows x `across` (columns of D, contraction of A), 16-byte-row
// core matrices. PTX ISA: lane / 4 is the row, lane % 4 the pair of elements; rows + 8 and columns
// + 8 follow in registers.
Builder wgmma_pattern(const MmaSide& rows, AxisId across, int64_t across_block) {
  const int64_t block = rows.tile / (rows.warps / kWarpgroup);
  Builder layout(Place::Register);
  layout.move(across, 2, 1).move(rows.axis, 2, 8).move(across, across_block / 8, 8);
  layout.move(rows.axis, block / 64, 64);
  layout.at(Place::Lane).move(across, 4, 2).move(rows.axis, 8, 1);
  layout.at(Place::Warp).move(rows.axis, kWarpgroup, 16);
  layout.move(rows.axis, rows.warps / kWarpgroup, block);
  return layout;
}

// Accumulator of MFMA: lane % n is the column; a lane holds groups of 4 rows, the lane groups (64 /
// n of them) hold neighbouring groups of rows.
Builder mfma_accumulator(MmaShape shape, const MmaSide& rows, const MmaSide& columns) {
  const int64_t row_block = rows.tile / rows.warps;
  const int64_t column_block = columns.tile / columns.warps;
  const int64_t lane_groups = 64 / shape.n;
  Builder layout(Place::Register);
  layout.move(rows.axis, 4, 1).move(rows.axis, shape.m / (4 * lane_groups), 4 * lane_groups);
  layout.move(rows.axis, row_block / shape.m, shape.m);
  layout.move(columns.axis, column_block / shape.n, shape.n);
  layout.at(Place::Lane).move(columns.axis, shape.n, 1).move(rows.axis, lane_groups, 4);
  layout.at(Place::Warp).move(rows.axis, rows.warps, row_block);
  layout.move(columns.axis, columns.warps, column_block);
  return layout;
}

// Operand of MFMA: lane % size is the row (or column), a lane group holds 4 neighbours of the
// contracted axis.
Builder mfma_operand(MmaShape shape, const MmaSide& side, const MmaSide& contraction) {
  Builder layout(Place::Register);
  layout.move(contraction.axis, 4, 1).move(contraction.axis, contraction.tile / shape.k, shape.k);
  layout.move(side.axis, side.tile / side.warps / shape.m, shape.m);
  layout.at(Place::Lane).move(side.axis, shape.m, 1).move(contraction.axis, shape.k / 4, 4);
  return layout;
}

}  // namespace

Result<void> check_mma_shape(Target target, MmaShape shape, DType operand) {
  ORR_TRY_VOID(check_shape(target, shape));
  if (is_16_bit(operand)) return {};
  return make_error(ErrorCode::InvalidInput,
                    "[kernel.mma_layout] operand type of m{}n{}k{}: got {}, need f16 or bf16",
                    shape.m,
                    shape.n,
                    shape.k,
                    name(operand));
}

Result<FragmentLayout> mma_accumulator_layout(Target target,
                                              MmaShape shape,
                                              const MmaSide& rows,
                                              const MmaSide& columns) {
  ORR_TRY_VOID(check_shape(target, shape));
  ORR_TRY_VOID(check_warps(target, rows.warps, columns.warps));
  const bool wgmma = target == Target::Sm90a;
  const int64_t row_units = wgmma ? rows.warps / kWarpgroup : rows.warps;
  ORR_TRY_VOID(check_side("rows", rows.tile, shape.m * row_units));
  ORR_TRY_VOID(check_side("columns", columns.tile, shape.n * columns.warps));
  if (!wgmma) return mfma_accumulator(shape, rows, columns).done();
  const int64_t block = columns.tile / columns.warps;
  return wgmma_pattern(rows, columns.axis, block).move(columns.axis, columns.warps, block).done();
}

Result<FragmentLayout> mma_first_operand_layout(Target target,
                                                MmaShape shape,
                                                const MmaSide& rows,
                                                const MmaSide& contraction,
                                                int64_t column_warps) {
  ORR_TRY_VOID(check_shape(target, shape));
  ORR_TRY_VOID(check_warps(target, rows.warps, column_warps));
  const bool wgmma = target == Target::Sm90a;
  const int64_t row_units = wgmma ? rows.warps / kWarpgroup : rows.warps;
  ORR_TRY_VOID(check_side("rows", rows.tile, shape.m * row_units));
  ORR_TRY_VOID(check_side("contraction", contraction.tile, shape.k));
  if (wgmma) {
    return wgmma_pattern(rows, contraction.axis, contraction.tile).copies(column_warps).done();
  }
  Builder layout = mfma_operand(shape, rows, contraction);
  layout.at(Place::Warp).move(rows.axis, rows.warps, rows.tile / rows.warps);
  return layout.copies(column_warps).done();
}

Result<FragmentLayout> mma_second_operand_layout(Target target,
                                                 MmaShape shape,
                                                 const MmaSide& columns,
                                                 const MmaSide& contraction,
                                                 int64_t row_warps) {
  ORR_TRY_VOID(check_shape(target, shape));
  if (target == Target::Sm90a) {
    return make_error(ErrorCode::InvalidInput,
                      "[kernel.mma_layout] second operand of wgmma: got registers, need shared "
                      "memory (PTX ISA, wgmma.mma_async)");
  }
  ORR_TRY_VOID(check_warps(target, row_warps, columns.warps));
  ORR_TRY_VOID(check_side("columns", columns.tile, shape.n * columns.warps));
  ORR_TRY_VOID(check_side("contraction", contraction.tile, shape.k));
  Builder layout = mfma_operand(shape, columns, contraction);
  layout.at(Place::Warp).copies(row_warps);
  return layout.move(columns.axis, columns.warps, columns.tile / columns.warps).done();
}

}  // namespace orrery::kernel
