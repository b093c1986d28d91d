// acc += first x second with wgmma: operand descriptors, instruction after instruction.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/base/check.h"
#include "orrery/emit/cuda/scope_internal.h"
#include "orrery/emit/index.h"

namespace orrery::emit::cuda {
namespace {

using kernel::FragmentLayout;
using kernel::Mma;

/// The axes of a product.
struct Sides {
  AxisId row;
  AxisId column;
  AxisId depth;  // contracted
};

bool has(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::optional<Sides> sides_of(const Scope& scope, const Mma& mma) {
  const auto acc = wide_axes(scope.context, scope[mma.acc]);
  const auto first = wide_axes(scope.context, scope[mma.first]);
  const auto second = wide_axes(scope.context, scope[mma.second]);
  if (acc.size() != 2 || first.size() != 2 || second.size() != 2) return std::nullopt;
  Sides sides;
  sides.row = has(first, acc[0]) ? acc[0] : acc[1];
  sides.column = has(first, acc[0]) ? acc[1] : acc[0];
  sides.depth = first[0] == sides.row ? first[1] : first[0];
  const bool contracts = has(second, sides.depth) && !has(acc, sides.depth);
  if (!contracts || !has(second, sides.column) || !has(first, sides.row)) return std::nullopt;
  return sides;
}

/// A matrix operand in shared memory, rows (or columns) x depth.
class SharedOperand {
 public:
  SharedOperand(const Scope& scope, BufferId buffer, AxisId row, AxisId depth)
      : buffer_(scope[buffer]),
        rows_(scope.program()[row].tile),
        depth_(scope.program()[depth].tile),
        transposed_(wide_axes(scope.context, buffer_).back() == row) {}

  bool legal() const {
    const int64_t swizzle = buffer_.shared.swizzle;
    return buffer_.shared.pad == 0 && swizzle >= 32 &&
           buffer_.shared.panel * element_bytes(buffer_.dtype) == swizzle;
  }

  bool transposed() const { return transposed_; }

  /// Bytes from the tile's corner to element (row, depth), swizzle aside.
  int64_t at(int64_t row, int64_t depth) const {
    const int64_t inner = transposed_ ? row : depth;
    const int64_t outer = transposed_ ? depth : row;
    const int64_t outers = transposed_ ? depth_ : rows_;
    const int64_t panel = buffer_.shared.panel;
    return inner / panel * outers * line() + outer * line() +
           inner % panel * element_bytes(buffer_.dtype);
  }

  /// descriptor(...) of the corner. With depth innermost, 8-row groups follow each other and the
  /// leading offset is unused; with rows innermost the leading offset leads to the next panel.
  std::string descriptor(std::string_view address) const {
    const int64_t leading = transposed_ ? depth_ * line() : 16;
    const int64_t mode = line() == 128 ? 1 : line() == 64 ? 2 : 3;
    return fmt::format("descriptor({}, {}, {}, {})", address, leading, 8 * line(), mode);
  }

 private:
  int64_t line() const { return buffer_.shared.swizzle; }  // bytes of a panel row

  const Buffer& buffer_;
  int64_t rows_;
  int64_t depth_;
  bool transposed_;
};

/// Where warpgroup `g` begins along `axis`: a multiple of g; none if it is not.
std::optional<int64_t> warpgroup_step(const FragmentLayout& layout, AxisId axis) {
  const int64_t groups = layout.count(Place::Warp) / kWarpgroup;
  const int64_t step = groups > 1 ? offset_of(layout, axis, Place::Warp, kWarpgroup) : 0;
  for (int64_t g = 0; g < groups; ++g) {
    if (offset_of(layout, axis, Place::Warp, g * kWarpgroup) != g * step) return std::nullopt;
  }
  return step;
}

/// Do `count` registers from `base` hold the 64-row pattern of wgmma's fragments D and A? (PTX ISA)
bool has_pattern(
    const FragmentLayout& layout, AxisId row, AxisId across, int64_t base, int64_t count) {
  const auto along = [&](AxisId axis, int64_t reg) {
    return offset_of(layout, axis, Place::Register, reg) -
           offset_of(layout, axis, Place::Register, base);
  };
  for (int64_t i = 0; i < count; ++i) {
    if (along(row, base + i) != i / 2 % 2 * 8) return false;
    if (along(across, base + i) != i % 2 + i / 4 * 8) return false;
  }
  for (int64_t lane = 0; lane < kWarpSize; ++lane) {
    if (offset_of(layout, row, Place::Lane, lane) != lane / 4) return false;
    if (offset_of(layout, across, Place::Lane, lane) != lane % 4 * 2) return false;
  }
  for (int64_t warp = 0; warp < kWarpgroup; ++warp) {
    if (offset_of(layout, row, Place::Warp, warp) != warp * 16) return false;
    if (offset_of(layout, across, Place::Warp, warp) != 0) return false;
  }
  return true;
}

/// One product under construction.
struct Product {
  const Mma& mma;
  Sides sides;
  MmaInstruction instruction;
  std::string first;  // name of the descriptor, or of the register tile
  std::string second;
};

/// Declares the descriptor of a shared operand ahead of the unit loop; `step`: rows from warpgroup
/// to warpgroup.
Result<std::string> declare_descriptor(
    Scope& scope, BufferId buffer, AxisId row, AxisId depth, int64_t step) {
  const SharedOperand operand(scope, buffer, row, depth);
  if (!operand.legal()) {
    return unsupported(scope.context,
                       fmt::format("shared layout of matrix operand '{}' (panel {}, swizzle {})",
                                   scope[buffer].name,
                                   scope[buffer].shared.panel,
                                   scope[buffer].shared.swizzle));
  }
  std::string address = fmt::format("shared + {}", scope.context.slot(buffer).offset);
  if (step > 0) address += fmt::format(" + warp / {} * {}", kWarpgroup, operand.at(step, 0));
  return scope.declare("const u64",
                       fmt::format("desc{}_{}", scope.products, scope[buffer].name),
                       operand.descriptor(address));
}

/// descriptor + entry of the ring + element offset, in units of 16 bytes.
std::string operand_text(const Scope& scope,
                         BufferId buffer,
                         std::string_view descriptor,
                         int64_t bytes) {
  std::string text(descriptor);
  const auto& slot = scope.context.slot(buffer);
  const auto ring = scope.context.ring_of(buffer);
  if (ring && slot.ring > 1) text += fmt::format(" + slot{} * {}", *ring, slot.bytes / 16);
  if (bytes > 0) text += fmt::format(" + {}", bytes / 16);
  return text;
}

/// The four words of the first operand for rows from `row` and depths from `depth`; none: no such
/// registers.
std::optional<std::string> register_operand(const Scope& scope,
                                            const Product& product,
                                            int64_t row,
                                            int64_t depth) {
  const FragmentLayout& layout = scope[product.mma.first].fragment;
  for (int64_t base = 0; base + 8 <= layout.count(Place::Register); base += 8) {
    if (offset_of(layout, product.sides.row, Place::Register, base) != row) continue;
    if (offset_of(layout, product.sides.depth, Place::Register, base) != depth) continue;
    if (!has_pattern(layout, product.sides.row, product.sides.depth, base, 8)) continue;
    const int64_t w = base / 2;
    return fmt::format(
        "{0}.w[{1}], {0}.w[{2}], {0}.w[{3}], {0}.w[{4}]", product.first, w, w + 1, w + 2, w + 3);
  }
  return std::nullopt;
}

/// One instruction: accumulator registers from `base`, contraction from `depth`.
Result<void> write_instruction(Scope& scope, const Product& product, int64_t base, int64_t depth) {
  const Mma& mma = product.mma;
  const FragmentLayout& acc = scope[mma.acc].fragment;
  const int64_t row = offset_of(acc, product.sides.row, Place::Register, base);
  const int64_t column = offset_of(acc, product.sides.column, Place::Register, base);
  const SharedOperand second(scope, mma.second, product.sides.column, product.sides.depth);
  std::string first;
  std::string flags = fmt::format("{}", base);
  if (product.instruction.first_in_registers) {
    const auto words = register_operand(scope, product, row, depth);
    if (!words) {
      return unsupported(scope.context,
                         fmt::format("layout of matrix operand '{}'", scope[mma.first].name));
    }
    first = *words;
  } else {
    const SharedOperand shared(scope, mma.first, product.sides.row, product.sides.depth);
    first = operand_text(scope, mma.first, product.first, shared.at(row, depth));
    flags += shared.transposed() ? ", 1" : ", 0";
  }
  flags += second.transposed() ? ", 1" : ", 0";
  const std::string acc_name = buffer_name(scope.program(), mma.acc);
  scope.out.line("mma_n{}_{}<{}>({}, {}, {}, {});",
                 product.instruction.n,
                 element_type(product.instruction.dtype),
                 flags,
                 acc_name,
                 first,
                 operand_text(scope, mma.second, product.second, second.at(column, depth)),
                 depth == 0 ? "live_" + acc_name : "1");
  return {};
}

Result<Product> make_product(Scope& scope, const Mma& mma) {
  const auto sides = sides_of(scope, mma);
  const std::string what =
      fmt::format("the product of '{}' and '{}'", scope[mma.first].name, scope[mma.second].name);
  if (!sides || mma.shape.m != 64 || mma.shape.k != 16) return unsupported(scope.context, what);
  if (scope.context.first_warp(scope.stage) % kWarpgroup != 0 || scope.warps() % kWarpgroup != 0) {
    return unsupported(scope.context, what + " by a stage that is not whole warpgroups");
  }
  const FragmentLayout& acc = scope[mma.acc].fragment;
  for (int64_t base = 0; base < acc.count(Place::Register); base += mma.shape.n / 2) {
    if (!has_pattern(acc, sides->row, sides->column, base, mma.shape.n / 2)) {
      return unsupported(scope.context,
                         fmt::format("layout of accumulator '{}'", scope[mma.acc].name));
    }
  }
  const auto row_step = warpgroup_step(acc, sides->row);
  const auto column_step = warpgroup_step(acc, sides->column);
  if (!row_step || !column_step) return unsupported(scope.context, what);
  Product product{.mma = mma, .sides = *sides, .instruction = {}, .first = "", .second = ""};
  product.instruction = {
      mma.shape.n, scope[mma.second].dtype, scope[mma.first].space == Space::Fragment};
  if (product.instruction.first_in_registers) {
    product.first = buffer_name(scope.program(), mma.first);
  } else {
    ORR_TRY(product.first,
            declare_descriptor(scope, mma.first, sides->row, sides->depth, *row_step));
  }
  ORR_TRY(product.second,
          declare_descriptor(scope, mma.second, sides->column, sides->depth, *column_step));
  return product;
}

}  // namespace

Result<void> lower_mma(Scope& scope, const Mma& mma) {
  ORR_TRY(const Product product, make_product(scope, mma));
  ++scope.products;
  scope.context.instructions.insert(product.instruction);
  const std::string acc = buffer_name(scope.program(), mma.acc);
  const int64_t registers = scope[mma.acc].fragment.count(Place::Register);
  const int64_t depth = scope.program()[product.sides.depth].tile;
  if (depth % mma.shape.k != 0) {
    return unsupported(scope.context, fmt::format("a contraction of {} elements", depth));
  }
  scope.out.raw("mma_fence();");
  for (int64_t k = 0; k < depth; k += mma.shape.k) {
    for (int64_t base = 0; base < registers; base += mma.shape.n / 2) {
      ORR_TRY_VOID(write_instruction(scope, product, base, k));
    }
  }
  scope.out.raw("mma_commit();");
  scope.out.line("live_{} = 1;", acc);
  scope.zeros[mma.acc] = Zeros::None;
  scope.in_flight.push_back({mma.acc, mma.first, {}});
  return {};
}

}  // namespace orrery::emit::cuda
