// Rules buffer, shared and layout: each tile has a size, and a layout that fits its space.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/verify_internal.h"

namespace orrery::kernel::detail {
namespace {

constexpr int64_t kSwizzles[] = {0, 32, 64, 128};  // bytes; PTX ISA, "tensor swizzling modes"

std::string who(const Buffer& buffer) {
  return fmt::format("buffer {}", buffer.name);
}

int64_t inner_tile(const Program& program, const Buffer& buffer) {
  return buffer.axes.empty() ? 1 : program[buffer.axes.back()].tile;
}

// Tiles are at most 2^20 and ranks at most 8: stop multiplying once it is too much.
bool check_size(const Program& program, const Buffer& buffer, Report& report) {
  int64_t elements = buffer.ring;
  for (const AxisId axis : buffer.axes) {
    elements *= program[axis].tile;
    if (elements > kMaxTileElements) {
      report.add("buffer", who(buffer), "got more than {} elements, need fewer", kMaxTileElements);
      return false;
    }
  }
  return true;
}

void check_panels(const Buffer& buffer, int64_t inner, Report& report) {
  const SharedLayout& layout = buffer.shared;
  if (layout.panel > 0 && inner % layout.panel != 0) {
    report.add("shared",
               who(buffer),
               "got panels of {} elements, need a divisor of the inner tile {}",
               layout.panel,
               inner);
  }
  if (layout.resident > 0 && (layout.panel == 0 || layout.resident > inner / layout.panel)) {
    report.add("shared",
               who(buffer),
               "got {} resident panels, need at most the panels of its tile",
               layout.resident);
  }
}

void check_swizzle(const Buffer& buffer, int64_t inner, Report& report) {
  const SharedLayout& layout = buffer.shared;
  if (std::ranges::find(kSwizzles, layout.swizzle) == std::end(kSwizzles)) {
    report.add(
        "shared", who(buffer), "got swizzle {}, need 0, 32, 64 or 128 bytes", layout.swizzle);
    return;
  }
  if (layout.swizzle == 0) return;
  const int64_t row_bits = (layout.panel > 0 ? layout.panel : inner) * element_bits(buffer.dtype);
  if (row_bits != layout.swizzle * 8) {
    report.add("shared",
               who(buffer),
               "got swizzle {} over panel rows of {} bytes, need rows as wide",
               layout.swizzle,
               row_bits / 8);
  }
  if (layout.pad > 0) {
    report.add("shared",
               who(buffer),
               "got swizzle {} and pad {}, need one of them",
               layout.swizzle,
               layout.pad);
  }
}

void check_shared(const Program& program, const Buffer& buffer, Report& report) {
  if (!buffer.fragment.digits.empty()) {
    report.add("shared", who(buffer), "got a fragment layout in shared memory, need none");
  }
  const int64_t inner = inner_tile(program, buffer);
  check_panels(buffer, inner, report);
  check_swizzle(buffer, inner, report);
}

void check_fragment(const Program& program,
                    const Buffer& buffer,
                    std::vector<AxisSpan>& spans,
                    Report& report) {
  if (buffer.ring != 1 || buffer.shared != SharedLayout{}) {
    report.add("layout", who(buffer), "got a ring or a shared layout in registers, need none");
  }
  spans.clear();
  for (const AxisId axis : buffer.axes) spans.push_back({axis, program[axis].tile});
  if (!covers(buffer.fragment, spans)) {
    report.add("layout",
               who(buffer),
               "got {{ {} }}, need digits that hold every element of its tile once",
               print(program, buffer.fragment));
  }
  const int64_t lanes = buffer.fragment.count(Place::Lane);
  const int64_t needed = target_limits(program.target).warp_size;
  if (lanes != needed) {
    report.add("layout",
               who(buffer),
               "got {} lanes, need the {} of {}",
               lanes,
               needed,
               name(program.target));
  }
}

}  // namespace

void verify_buffers(const Program& program, Report& report) {
  std::vector<AxisSpan> spans;
  for (const Buffer& buffer : program.buffers) {
    if (!check_size(program, buffer, report)) continue;
    if (buffer.space == Space::Shared) {
      check_shared(program, buffer, report);
    } else {
      check_fragment(program, buffer, spans, report);
    }
  }
}

}  // namespace orrery::kernel::detail
