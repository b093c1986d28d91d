// Text forms of quantities for people: "7.34 ms", "16.1 GB", "3.35 TB/s".
// SPDX-License-Identifier: Apache-2.0
//
// Three significant digits and a decimal prefix; "0 B" for zero, "forever" for Duration::max().
// For text that is read back use format_double_exact (text.h). Including this header also makes
// quantities printable by {fmt}, in ORR_CHECK messages and in gtest failures.
#pragma once

#include <fmt/format.h>

#include <iosfwd>
#include <string>
#include <string_view>

#include "orrery/base/quantity.h"

namespace orrery {

std::string to_text(Bytes bytes);
std::string to_text(Flops flops);
std::string to_text(Cycles cycles);
std::string to_text(Instructions instructions);
std::string to_text(Seconds seconds);
std::string to_text(Joules joules);
std::string to_text(Hertz hertz);
std::string to_text(BytesPerSecond rate);
std::string to_text(FlopsPerSecond rate);
std::string to_text(InstructionsPerSecond rate);
std::string to_text(Watts watts);
std::string to_text(BytesPerCycle rate);
std::string to_text(FlopsPerCycle rate);
std::string to_text(InstructionsPerCycle rate);
std::string to_text(FlopsPerByte intensity);
std::string to_text(Duration duration);

// "1.23 k" + unit with the decimal prefix (pico to exa) that leaves one to three digits before the
// point.
std::string to_text_with_prefix(double value, std::string_view unit);

template <Dimension D>
std::ostream& operator<<(std::ostream& out, Quantity<D> quantity) {
  return out << to_text(quantity);
}

std::ostream& operator<<(std::ostream& out, Duration duration);

}  // namespace orrery

template <orrery::Dimension D>
struct fmt::formatter<orrery::Quantity<D>> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(orrery::Quantity<D> quantity, Context& context) const {
    return fmt::formatter<std::string_view>::format(orrery::to_text(quantity), context);
  }
};

template <>
struct fmt::formatter<orrery::Duration> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(orrery::Duration duration, Context& context) const {
    return fmt::formatter<std::string_view>::format(orrery::to_text(duration), context);
  }
};
