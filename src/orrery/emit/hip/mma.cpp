// Matrix products of the HIP emitter: operands from LDS or registers, MFMA instructions.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "orrery/emit/hip/statement_internal.h"
#include "orrery/emit/hip/types_internal.h"
#include "orrery/emit/index.h"
#include "orrery/emit/naming.h"
#include "orrery/kernel/mma_layout.h"

namespace orrery::emit::hip {
namespace {

using kernel::MmaAccess;
using kernel::MmaOperand;
using kernel::MmaSide;

// One operand with everything that its text depends on.
struct Operand {
  BufferId buffer;
  MmaOperand access;
  int64_t size = 1;       // rows (columns) of the instruction
  std::string wave_part;  // where the wave's block starts along the side
  std::string slot;       // ring entry
  std::string name;       // "first", "second"
};

// The axis of more than one element that is not contracted; the contracted one stands in for none.
AxisId side_axis(const kernel::Program& program, BufferId buffer, AxisId contracted) {
  AxisId side = contracted;
  for (const AxisId axis : program[buffer].axes) {
    if (axis != contracted && program[axis].tile > 1) side = axis;
  }
  return side;
}

MmaSide side_of(const kernel::Program& program, AxisId axis, int64_t warps) {
  return {axis, program[axis].tile, warps};
}

// Do the fragments have the layouts that the instructions prescribe?
Result<void> check_layouts(const Context& context,
                           const kernel::Mma& mma,
                           const MmaAccess& access) {
  const kernel::Program& p = context.program;
  const MmaSide rows = side_of(p, side_axis(p, mma.first, access.contracted), access.row_warps);
  const MmaSide columns =
      side_of(p, side_axis(p, mma.second, access.contracted), access.column_warps);
  const MmaSide depth = side_of(p, access.contracted, 1);
  ORR_TRY_VOID(kernel::check_mma_shape(p.target, mma.shape, p[mma.first].dtype));
  ORR_TRY(const FragmentLayout acc,
          kernel::mma_accumulator_layout(p.target, mma.shape, rows, columns));
  bool fits = p[mma.acc].fragment == acc;
  if (!access.first.shared) {
    ORR_TRY(
        const FragmentLayout first,
        kernel::mma_first_operand_layout(p.target, mma.shape, rows, depth, access.column_warps));
    fits = fits && p[mma.first].fragment == first;
  }
  if (!access.second.shared) {
    ORR_TRY(
        const FragmentLayout second,
        kernel::mma_second_operand_layout(p.target, mma.shape, columns, depth, access.row_warps));
    fits = fits && p[mma.second].fragment == second;
  }
  if (fits) return {};
  return unsupported(context,
                     fmt::format("layouts of '{}' += '{}' x '{}' are not the instruction's",
                                 p[mma.acc].name,
                                 p[mma.first].name,
                                 p[mma.second].name));
}

// The address of row `row`, column `column` (texts, in elements) of a shared operand.
std::string address(const Context& context,
                    const Operand& operand,
                    const std::string& row,
                    const std::string& column) {
  const kernel::Buffer& buffer = context.program[operand.buffer];
  const kernel::SharedSlot& place = context.slot(operand.buffer);
  const int64_t pitch = context.program[buffer.axes.back()].tile + buffer.shared.pad;
  return fmt::format("lds + {} + {} * {} + (({}) * {} + {}) * 2",
                     place.offset,
                     operand.slot,
                     place.bytes,
                     row,
                     pitch,
                     column);
}

// Defines `name[blocks]`: the operand's elements for the contracted elements from `k` on.
void write_operand(const Context& context,
                   const Operand& operand,
                   const MmaAccess& access,
                   Writer& out) {
  const std::string type = access.run == 8 ? "u16x8" : "u16x4";
  out.line("{} {}[{}];", type, operand.name, operand.access.blocks);
  out.raw("UNROLL");
  out.open("for (int i = 0; i < {}; ++i)", operand.access.blocks);
  const std::string side =
      fmt::format("{} + i * {} + lane % {}", operand.wave_part, operand.size, operand.size);
  const std::string depth = fmt::format("k + lane / {} * {}", operand.size, access.run);
  if (!operand.access.shared) {
    const std::string fragment = buffer_name(context.program, operand.buffer);
    out.line("{}[i] = {}[k / {} + i * {}];",
             operand.name,
             fragment,
             context.program[access.contracted].tile / access.steps,
             access.steps);
  } else if (operand.access.contiguous) {
    out.line(
        "{}[i] = lds_read<{}>({});", operand.name, type, address(context, operand, side, depth));
  } else {  // the contracted axis goes from row to row
    out.raw("UNROLL");
    out.line("for (int e = 0; e < 4; ++e) {}[i][e] = lds_read<u16>({});",
             operand.name,
             address(context, operand, depth + " + e", side));
  }
  out.close();
}

void write_instructions(const Context& context,
                        const kernel::Mma& mma,
                        const MmaAccess& access,
                        std::string_view half,
                        Writer& out) {
  const std::string acc = buffer_name(context.program, mma.acc);
  out.raw("UNROLL");
  out.open("for (int j = 0; j < {}; ++j)", access.second.blocks);
  out.raw("UNROLL");
  out.open("for (int i = 0; i < {}; ++i)", access.first.blocks);
  const std::string into = fmt::format("{}[i + j * {}]", acc, access.first.blocks);
  out.line("{} = mfma_m{}n{}k{}_{}(first[i]{}, second[j]{}, {});",
           into,
           mma.shape.m,
           mma.shape.n,
           mma.shape.k,
           name(context.program[mma.first].dtype),
           half,
           half,
           into);
  out.close();
  out.close();
}

}  // namespace

Result<void> write_mma(const Context& context,
                       const kernel::Mma& mma,
                       const std::vector<std::string>& slots,
                       Writer& out) {
  const kernel::Program& p = context.program;
  const MmaAccess access = mma_access(p, mma);
  if (!access.contracted.valid()) return unsupported(context, "a product that contracts no axis");
  ORR_TRY_VOID(check_layouts(context, mma, access));
  const FragmentLayout& layout = p[mma.acc].fragment;
  const auto operand = [&](BufferId id, const MmaOperand& how, int64_t size, const char* name) {
    const AxisId side = side_axis(p, id, access.contracted);
    return Operand{
        id, how, size, offset_text(layout, side, Place::Warp, "wave"), slots[id.index()], name};
  };
  out.raw("UNROLL");
  out.open(
      "for (int k = 0; k < {}; k += {})", p[access.contracted].tile, mma.shape.k * access.run / 4);
  write_operand(context, operand(mma.first, access.first, mma.shape.m, "first"), access, out);
  write_operand(context, operand(mma.second, access.second, mma.shape.n, "second"), access, out);
  if (access.run == 8) {
    write_instructions(context, mma, access, ".lo", out);
    write_instructions(context, mma, access, ".hi", out);
  } else {
    write_instructions(context, mma, access, "", out);
  }
  out.close();
  return {};
}

}  // namespace orrery::emit::hip
