// Texts that several kernels share: see kernels_internal.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/calibrate/kernels_internal.h"

#include <fmt/format.h>

#include "orrery/base/check.h"

namespace orrery::calibrate {

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  size_t at = text.find(what);
  ORR_CHECK(at != std::string::npos) << "no " << std::string(what) << " in a kernel";
  for (; at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string kernel_head(const std::string& name, const std::string& bounds) {
  return "extern \"C\" __global__ void " + bounds + " " + name +
         "(unsigned char* data, unsigned long long* out, long long a, long long b, long long c) "
         "{\n";
}

std::string pack_text(DType type) {
  switch (type) {
    case DType::BF16:
      return R"(asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(g[0]), "f"(g[1]));)";
    case DType::F16:
      return R"(asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(g[0]), "f"(g[1]));)";
    case DType::F8E4M3:
    case DType::F8E5M2: {
      const std::string_view format = type == DType::F8E4M3 ? "e4m3x2" : "e5m2x2";
      return fmt::format(
          "unsigned short h[2];\n"
          "    for (int q = 0; q < 2; ++q) asm(\"cvt.rn.satfinite.{}.f32 %0, %1, %2;\" : "
          "\"=h\"(h[q]) : \"f\"(g[2 * q]), \"f\"(g[2 * q + 1]));\n    w = h[0] | h[1] << 16;",
          format);
    }
    case DType::I8:
      return "w = 0; for (int q = 0; q < 4; ++q) w |= ((unsigned)(int)(g[q] * 30) & 255) << 8 * q;";
    default:
      return "w = __float_as_uint(g[0]) & 0xffffe000u;";
  }
}

}  // namespace orrery::calibrate
