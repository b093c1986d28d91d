// The text of a wgmma wrapper.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "orrery/emit/cuda/prelude_internal.h"

namespace orrery::emit::cuda {

std::string mma_wrapper(const MmaInstruction& instruction) {
  const int64_t registers = instruction.n / 2;
  std::string outputs;
  std::string bindings;
  for (int64_t i = 0; i < registers; ++i) {
    outputs += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    bindings += fmt::format("{}\"+f\"(d.w[O + {}])", i == 0 ? "" : ", ", i);
  }
  const bool rs = instruction.first_in_registers;
  const int64_t b = registers + (rs ? 4 : 1);
  const std::string first =
      rs ? fmt::format(
               "{{%{}, %{}, %{}, %{}}}", registers, registers + 1, registers + 2, registers + 3)
         : fmt::format("%{}", registers);
  const std::string transposed =
      rs ? fmt::format("%{}", b + 2) : fmt::format("%{}, %{}", b + 2, b + 3);
  const std::string_view type = element_type(instruction.dtype);
  return fmt::format(
      "// d[O ..] {{+}}= first x second; live 0: overwrite d. TA, TB: stored with the row (column) "
      "innermost.\n"
      "template <int O, {0}int TB, class D>\nORR_FN void mma_n{1}_{2}(D& d, {3}, u64 b, u32 live) "
      "{{\n"
      "  asm volatile(\n"
      "      \"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{4}, 0;\\n\"\n"
      "      \"wgmma.mma_async.sync.aligned.m64n{1}k16.f32.{2}.{2} {{{5}}}, \"\n"
      "      \"{6}, %{7}, p, 1, 1, {8};\\n}}\"\n"
      "      : {9}\n      : {10}, \"l\"(b), \"r\"(live){11}, \"n\"(TB));\n}}\n",
      rs ? "" : "int TA, ",
      instruction.n,
      type,
      rs ? "u32 a0, u32 a1, u32 a2, u32 a3" : "u64 a",
      b + 1,
      outputs,
      first,
      b,
      transposed,
      bindings,
      rs ? "\"r\"(a0), \"r\"(a1), \"r\"(a2), \"r\"(a3)" : "\"l\"(a)",
      rs ? "" : ", \"n\"(TA)");
}

}  // namespace orrery::emit::cuda
