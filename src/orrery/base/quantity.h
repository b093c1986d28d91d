// Quantities with units: bytes, flops, cycles, bandwidths, and simulated time.
// SPDX-License-Identifier: Apache-2.0
//
// A Quantity is a double with a dimension in its type. Sums need equal dimensions, products and
// quotients add and subtract them, and a quotient of equals is a plain double:
//
//   const Bytes traffic(2.0 * m * k);
//   const Seconds time = traffic / 3.35_TBps;            // Bytes / (Bytes/Second)
//   const double share = time / Seconds(1e-3);            // dimensionless
//   traffic + Flops(1.0);                                 // does not compile
//   const Bytes wrong = 5.0;                              // does not compile
//
// A Duration is simulated time: a count of picoseconds in 64 bits (106 days), a type apart, because
// events at equal times must compare equal on every host. Seconds become a Duration only through
// Duration::from, which rounds to the nearest picosecond.
//
// Counting is by FLOP (a multiply-add is 2), decimal prefixes (GB = 1e9 bytes) unless the name has
// an i (GiB = 2^30). Text forms are in quantity_text.h.
#pragma once

#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

namespace orrery {

// The exponent of each base unit.
struct Dimension {
  std::int8_t bytes = 0;
  std::int8_t flops = 0;
  std::int8_t cycles = 0;
  std::int8_t instructions = 0;
  std::int8_t seconds = 0;
  std::int8_t joules = 0;

  constexpr bool operator==(const Dimension&) const = default;
};

constexpr Dimension combine(Dimension a, Dimension b, int sign) {
  const auto sum = [sign](std::int8_t x, std::int8_t y) {
    return static_cast<std::int8_t>(x + sign * y);
  };
  return {.bytes = sum(a.bytes, b.bytes),
          .flops = sum(a.flops, b.flops),
          .cycles = sum(a.cycles, b.cycles),
          .instructions = sum(a.instructions, b.instructions),
          .seconds = sum(a.seconds, b.seconds),
          .joules = sum(a.joules, b.joules)};
}

// What may scale a quantity.
template <class T>
concept Scalar = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

template <Dimension D>
class Quantity {
 public:
  constexpr Quantity() = default;

  template <Scalar S>
  constexpr explicit Quantity(S value) : value_(static_cast<double>(value)) {}

  constexpr double value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }

  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }

  template <Scalar S>
  constexpr Quantity& operator*=(S factor) {
    value_ *= static_cast<double>(factor);
    return *this;
  }

  template <Scalar S>
  constexpr Quantity& operator/=(S divisor) {
    value_ /= static_cast<double>(divisor);
    return *this;
  }

  constexpr Quantity operator-() const { return Quantity(-value_); }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }

  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }

  template <Scalar S>
  friend constexpr Quantity operator*(Quantity quantity, S factor) {
    return quantity *= factor;
  }

  template <Scalar S>
  friend constexpr Quantity operator*(S factor, Quantity quantity) {
    return quantity *= factor;
  }

  template <Scalar S>
  friend constexpr Quantity operator/(Quantity quantity, S divisor) {
    return quantity /= divisor;
  }

  constexpr auto operator<=>(const Quantity&) const = default;

 private:
  double value_ = 0.0;
};

namespace detail {

// A quantity, or a double when nothing is left of the dimension.
template <Dimension D>
constexpr auto typed(double value) {
  if constexpr (D == Dimension{}) {
    return value;
  } else {
    return Quantity<D>(value);
  }
}

}  // namespace detail

template <Dimension A, Dimension B>
constexpr auto operator*(Quantity<A> a, Quantity<B> b) {
  return detail::typed<combine(A, B, 1)>(a.value() * b.value());
}

template <Dimension A, Dimension B>
constexpr auto operator/(Quantity<A> a, Quantity<B> b) {
  return detail::typed<combine(A, B, -1)>(a.value() / b.value());
}

template <Scalar S, Dimension D>
constexpr auto operator/(S numerator, Quantity<D> quantity) {
  return Quantity<combine({}, D, -1)>(static_cast<double>(numerator) / quantity.value());
}

using Bytes = Quantity<Dimension{.bytes = 1}>;
using Flops = Quantity<Dimension{.flops = 1}>;
using Cycles = Quantity<Dimension{.cycles = 1}>;
using Instructions = Quantity<Dimension{.instructions = 1}>;
using Seconds = Quantity<Dimension{.seconds = 1}>;
using Joules = Quantity<Dimension{.joules = 1}>;

using Hertz = Quantity<Dimension{.cycles = 1, .seconds = -1}>;
using BytesPerSecond = Quantity<Dimension{.bytes = 1, .seconds = -1}>;
using FlopsPerSecond = Quantity<Dimension{.flops = 1, .seconds = -1}>;
using InstructionsPerSecond = Quantity<Dimension{.instructions = 1, .seconds = -1}>;
using Watts = Quantity<Dimension{.seconds = -1, .joules = 1}>;
using BytesPerCycle = Quantity<Dimension{.bytes = 1, .cycles = -1}>;
using FlopsPerCycle = Quantity<Dimension{.flops = 1, .cycles = -1}>;
using InstructionsPerCycle = Quantity<Dimension{.cycles = -1, .instructions = 1}>;
using FlopsPerByte = Quantity<Dimension{.bytes = -1, .flops = 1}>;

// Simulated time in picoseconds. All arithmetic saturates at +-max() instead of overflowing, so an
// absurd input gives "forever", not a negative time.
class Duration {
 public:
  constexpr Duration() = default;

  static constexpr Duration picoseconds(std::int64_t count) { return Duration(count); }

  // Rounds to nearest, ties away from zero. NaN and +infinity become max(): a time nobody knows is
  // never the shortest.
  static constexpr Duration from(Seconds seconds) { return from_ps(seconds.value() * 1e12); }

  static constexpr Duration zero() { return Duration(0); }

  static constexpr Duration max() { return Duration(kMax); }

  constexpr std::int64_t ps() const { return ps_; }

  constexpr Seconds seconds() const { return Seconds(static_cast<double>(ps_) / 1e12); }

  constexpr double microseconds() const { return static_cast<double>(ps_) / 1e6; }

  constexpr Duration operator-() const { return Duration(-ps_); }

  friend constexpr Duration operator+(Duration a, Duration b) {
    std::int64_t sum = 0;
    const bool overflows = __builtin_add_overflow(a.ps_, b.ps_, &sum);
    return Duration(overflows ? limit(a.ps_ < 0) : sum);
  }

  friend constexpr Duration operator-(Duration a, Duration b) { return a + -b; }

  template <std::integral I>
  friend constexpr Duration operator*(Duration duration, I factor) {
    std::int64_t product = 0;
    const bool overflows = __builtin_mul_overflow(duration.ps_, factor, &product);
    return Duration(overflows ? limit((duration.ps_ < 0) != (factor < I{})) : product);
  }

  // Rounds to nearest.
  template <std::floating_point F>
  friend constexpr Duration operator*(Duration duration, F factor) {
    return from_ps(static_cast<double>(duration.ps_) * static_cast<double>(factor));
  }

  template <Scalar S>
  friend constexpr Duration operator*(S factor, Duration duration) {
    return duration * factor;
  }

  // Rounds to nearest; a division by zero gives +-max().
  template <Scalar S>
  friend constexpr Duration operator/(Duration duration, S divisor) {
    return from_ps(static_cast<double>(duration.ps_) / static_cast<double>(divisor));
  }

  friend constexpr double operator/(Duration a, Duration b) {
    return static_cast<double>(a.ps_) / static_cast<double>(b.ps_);
  }

  constexpr Duration& operator+=(Duration other) { return *this = *this + other; }

  constexpr Duration& operator-=(Duration other) { return *this = *this - other; }

  constexpr auto operator<=>(const Duration&) const = default;

 private:
  static constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

  // The most negative integer is not a Duration, so that -x always exists.
  constexpr explicit Duration(std::int64_t ps) : ps_(ps < -kMax ? -kMax : ps) {}

  static constexpr std::int64_t limit(bool negative) { return negative ? -kMax : kMax; }

  static constexpr Duration from_ps(double ps) {
    constexpr double kLimit = 9223372036854775808.0;  // 2^63, the first double that does not fit
    if (!(ps < kLimit)) {
      return max();
    }
    if (ps <= -kLimit) {
      return Duration(-kMax);
    }
    const auto whole = static_cast<std::int64_t>(ps);
    const double rest = ps - static_cast<double>(whole);
    return Duration(whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0));
  }

  std::int64_t ps_ = 0;
};

constexpr Duration max(Duration a, Duration b) {
  return a < b ? b : a;
}

constexpr Duration min(Duration a, Duration b) {
  return b < a ? b : a;
}

}  // namespace orrery

template <orrery::Dimension D>
struct std::hash<orrery::Quantity<D>> {
  std::size_t operator()(orrery::Quantity<D> quantity) const noexcept {
    return std::hash<double>{}(quantity.value());
  }
};

template <>
struct std::hash<orrery::Duration> {
  std::size_t operator()(orrery::Duration duration) const noexcept {
    return std::hash<std::int64_t>{}(duration.ps());
  }
};

#include "orrery/base/quantity_literals.h"
