// Text forms of quantities.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/quantity_text.h"

#include <array>
#include <cmath>
#include <ostream>

namespace orrery {
namespace {

struct Prefix {
  double factor;
  std::string_view name;
};

constexpr std::array<Prefix, 11> kPrefixes = {{{1e18, "E"},
                                               {1e15, "P"},
                                               {1e12, "T"},
                                               {1e9, "G"},
                                               {1e6, "M"},
                                               {1e3, "k"},
                                               {1.0, ""},
                                               {1e-3, "m"},
                                               {1e-6, "u"},
                                               {1e-9, "n"},
                                               {1e-12, "p"}}};

// Three significant digits of a number below 1000.
std::string three_digits(double scaled) {
  const double size = std::abs(scaled);
  const int decimals = size < 9.995 ? 2 : (size < 99.95 ? 1 : 0);
  return fmt::format("{:.{}f}", scaled, decimals);
}

// 999.6 of a unit shows as 1.00 of the next, hence the 0.9995.
const Prefix& prefix_of(double value) {
  for (const Prefix& prefix : kPrefixes) {
    if (std::abs(value) >= 0.9995 * prefix.factor) {
      return prefix;
    }
  }
  return kPrefixes.back();
}

// Rates per cycle and intensities are small numbers whose unit takes no prefix.
std::string plain(double value, std::string_view unit) {
  return fmt::format("{:.3g} {}", value, unit);
}

}  // namespace

std::string to_text_with_prefix(double value, std::string_view unit) {
  if (value == 0.0 || !std::isfinite(value)) {
    return fmt::format("{:g} {}", value == 0.0 ? 0.0 : value, unit);
  }
  const Prefix& prefix = prefix_of(value);
  return fmt::format("{} {}{}", three_digits(value / prefix.factor), prefix.name, unit);
}

std::string to_text(Bytes bytes) {
  // A whole number of bytes below 1000 has no decimals.
  if (std::abs(bytes.value()) < 1000.0 && bytes.value() == std::round(bytes.value())) {
    return fmt::format("{:.0f} B", bytes.value() + 0.0);
  }
  return to_text_with_prefix(bytes.value(), "B");
}

std::string to_text(Flops flops) {
  return to_text_with_prefix(flops.value(), "FLOP");
}

std::string to_text(Cycles cycles) {
  return fmt::format("{:.0f} cycles", cycles.value());
}

std::string to_text(Instructions instructions) {
  return to_text_with_prefix(instructions.value(), "instr");
}

std::string to_text(Seconds seconds) {
  return to_text_with_prefix(seconds.value(), "s");
}

std::string to_text(Joules joules) {
  return to_text_with_prefix(joules.value(), "J");
}

std::string to_text(Hertz hertz) {
  return to_text_with_prefix(hertz.value(), "Hz");
}

std::string to_text(BytesPerSecond rate) {
  return to_text_with_prefix(rate.value(), "B/s");
}

std::string to_text(FlopsPerSecond rate) {
  return to_text_with_prefix(rate.value(), "FLOP/s");
}

std::string to_text(InstructionsPerSecond rate) {
  return to_text_with_prefix(rate.value(), "instr/s");
}

std::string to_text(Watts watts) {
  return to_text_with_prefix(watts.value(), "W");
}

std::string to_text(BytesPerCycle rate) {
  return plain(rate.value(), "B/cycle");
}

std::string to_text(FlopsPerCycle rate) {
  return plain(rate.value(), "FLOP/cycle");
}

std::string to_text(InstructionsPerCycle rate) {
  return plain(rate.value(), "instr/cycle");
}

std::string to_text(FlopsPerByte intensity) {
  return plain(intensity.value(), "FLOP/B");
}

std::string to_text(Duration duration) {
  if (duration == Duration::max()) {
    return "forever";
  }
  return to_text_with_prefix(duration.seconds().value(), "s");
}

std::ostream& operator<<(std::ostream& out, Duration duration) {
  return out << to_text(duration);
}

}  // namespace orrery
