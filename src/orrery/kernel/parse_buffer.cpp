// The text form of kernel programs, read: buffers and their layouts.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/limits.h"
#include "orrery/kernel/parse_internal.h"

namespace orrery::kernel::detail {

Result<void> Parser::buffer() {
  ORR_TRY_VOID(room(program_.buffers.size(), kMaxBuffers, "buffers"));
  Buffer buffer;
  ORR_TRY(buffer.name, new_name("a buffer", &Parser::is_tile));
  ORR_TRY(buffer.dtype, dtype());
  ORR_TRY(buffer.axes, axis_list());
  if (scan_.accept("shared")) {
    buffer.space = Space::Shared;
    ORR_TRY_VOID(shared(buffer));
  } else if (scan_.accept("fragment")) {
    ORR_TRY(buffer.fragment, fragment());
  } else {
    return scan_.error("shared or fragment");
  }
  program_.buffers.push_back(std::move(buffer));
  return {};
}

Result<void> Parser::shared(Buffer& buffer) {
  ORR_TRY(buffer.ring, option("ring", 1, kMaxRing));
  ORR_TRY(buffer.shared.panel, option("panel", 0, kMaxTile));
  ORR_TRY(buffer.shared.swizzle, option("swizzle", 0, kMaxTile));
  ORR_TRY(buffer.shared.pad, option("pad", 0, kMaxTile));
  ORR_TRY(buffer.shared.resident, option("resident", 0, kMaxTile));
  return {};
}

// A layout may go over several lines; its closing brace ends the declaration.
Result<FragmentLayout> Parser::fragment() {
  FragmentLayout layout;
  ORR_TRY_VOID(scan_.expect("{"));
  std::optional<Place> place;
  while (!scan_.accept("}")) {
    if (scan_.accept("register")) {
      place = Place::Register;
    } else if (scan_.accept("lane")) {
      place = Place::Lane;
    } else if (scan_.accept("warp")) {
      place = Place::Warp;
    } else if (!place) {
      return scan_.error("register, lane or warp, or '}'");
    } else {
      ORR_TRY_VOID(digit(*place, layout));
      line_ = scan_.position().line;
      continue;
    }
    if (scan_.peek().kind != TokenKind::Integer) return scan_.error("a digit like 4:m*16");
  }
  return layout;
}

Result<void> Parser::digit(Place place, FragmentLayout& layout) {
  ORR_TRY_VOID(room(layout.digits.size(), kMaxDigits, "digits of one layout"));
  Digit digit;
  digit.place = place;
  ORR_TRY(digit.extent, integer("a digit like 4:m*16, or register, lane, warp or '}'", kMaxTile));
  ORR_TRY_VOID(scan_.expect(":"));
  if (!scan_.accept("_")) {
    ORR_TRY(digit.axis, axis_name());
    ORR_TRY_VOID(scan_.expect("*"));
    ORR_TRY(digit.stride, integer("a stride", kMaxTile));
  }
  layout.digits.push_back(digit);
  return {};
}

}  // namespace orrery::kernel::detail
