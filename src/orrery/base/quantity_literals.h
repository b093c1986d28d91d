// Literals for quantities: 80_GiB, 3.35_TBps, 1980_MHz, 989_TFLOPS, 5_us.
// SPDX-License-Identifier: Apache-2.0
//
// Included by quantity.h; say `using namespace orrery::literals;` in a .cpp. A FLOP without S is a
// count, with S a rate. Literals of time are Durations.
#pragma once

#include "orrery/base/quantity.h"

namespace orrery::literals {

constexpr Bytes operator""_B(unsigned long long value) {
  return Bytes(value);
}

constexpr Bytes operator""_B(long double value) {
  return Bytes(value);
}

constexpr Bytes operator""_KB(unsigned long long value) {
  return Bytes(static_cast<double>(value) * 1e3);
}

constexpr Bytes operator""_KB(long double value) {
  return Bytes(static_cast<double>(value) * 1e3);
}

constexpr Bytes operator""_MB(unsigned long long value) {
  return Bytes(static_cast<double>(value) * 1e6);
}

constexpr Bytes operator""_MB(long double value) {
  return Bytes(static_cast<double>(value) * 1e6);
}

constexpr Bytes operator""_GB(unsigned long long value) {
  return Bytes(static_cast<double>(value) * 1e9);
}

constexpr Bytes operator""_GB(long double value) {
  return Bytes(static_cast<double>(value) * 1e9);
}

constexpr Bytes operator""_TB(unsigned long long value) {
  return Bytes(static_cast<double>(value) * 1e12);
}

constexpr Bytes operator""_TB(long double value) {
  return Bytes(static_cast<double>(value) * 1e12);
}

constexpr Bytes operator""_KiB(unsigned long long value) {
  return Bytes(static_cast<double>(value) * 1024.0);
}

constexpr Bytes operator""_KiB(long double value) {
  return Bytes(static_cast<double>(value) * 1024.0);
}

constexpr Bytes operator""_MiB(unsigned long long value) {
  return Bytes(static_cast<double>(value) * 1048576.0);
}

constexpr Bytes operator""_MiB(long double value) {
  return Bytes(static_cast<double>(value) * 1048576.0);
}

constexpr Bytes operator""_GiB(unsigned long long value) {
  return Bytes(static_cast<double>(value) * 1073741824.0);
}

constexpr Bytes operator""_GiB(long double value) {
  return Bytes(static_cast<double>(value) * 1073741824.0);
}

constexpr Bytes operator""_TiB(unsigned long long value) {
  return Bytes(static_cast<double>(value) * 1099511627776.0);
}

constexpr Bytes operator""_TiB(long double value) {
  return Bytes(static_cast<double>(value) * 1099511627776.0);
}

constexpr BytesPerSecond operator""_MBps(unsigned long long value) {
  return BytesPerSecond(static_cast<double>(value) * 1e6);
}

constexpr BytesPerSecond operator""_MBps(long double value) {
  return BytesPerSecond(static_cast<double>(value) * 1e6);
}

constexpr BytesPerSecond operator""_GBps(unsigned long long value) {
  return BytesPerSecond(static_cast<double>(value) * 1e9);
}

constexpr BytesPerSecond operator""_GBps(long double value) {
  return BytesPerSecond(static_cast<double>(value) * 1e9);
}

constexpr BytesPerSecond operator""_TBps(unsigned long long value) {
  return BytesPerSecond(static_cast<double>(value) * 1e12);
}

constexpr BytesPerSecond operator""_TBps(long double value) {
  return BytesPerSecond(static_cast<double>(value) * 1e12);
}

constexpr Flops operator""_MFLOP(unsigned long long value) {
  return Flops(static_cast<double>(value) * 1e6);
}

constexpr Flops operator""_MFLOP(long double value) {
  return Flops(static_cast<double>(value) * 1e6);
}

constexpr Flops operator""_GFLOP(unsigned long long value) {
  return Flops(static_cast<double>(value) * 1e9);
}

constexpr Flops operator""_GFLOP(long double value) {
  return Flops(static_cast<double>(value) * 1e9);
}

constexpr Flops operator""_TFLOP(unsigned long long value) {
  return Flops(static_cast<double>(value) * 1e12);
}

constexpr Flops operator""_TFLOP(long double value) {
  return Flops(static_cast<double>(value) * 1e12);
}

constexpr Flops operator""_PFLOP(unsigned long long value) {
  return Flops(static_cast<double>(value) * 1e15);
}

constexpr Flops operator""_PFLOP(long double value) {
  return Flops(static_cast<double>(value) * 1e15);
}

constexpr FlopsPerSecond operator""_GFLOPS(unsigned long long value) {
  return FlopsPerSecond(static_cast<double>(value) * 1e9);
}

constexpr FlopsPerSecond operator""_GFLOPS(long double value) {
  return FlopsPerSecond(static_cast<double>(value) * 1e9);
}

constexpr FlopsPerSecond operator""_TFLOPS(unsigned long long value) {
  return FlopsPerSecond(static_cast<double>(value) * 1e12);
}

constexpr FlopsPerSecond operator""_TFLOPS(long double value) {
  return FlopsPerSecond(static_cast<double>(value) * 1e12);
}

constexpr FlopsPerSecond operator""_PFLOPS(unsigned long long value) {
  return FlopsPerSecond(static_cast<double>(value) * 1e15);
}

constexpr FlopsPerSecond operator""_PFLOPS(long double value) {
  return FlopsPerSecond(static_cast<double>(value) * 1e15);
}

constexpr Hertz operator""_Hz(unsigned long long value) {
  return Hertz(value);
}

constexpr Hertz operator""_Hz(long double value) {
  return Hertz(value);
}

constexpr Hertz operator""_MHz(unsigned long long value) {
  return Hertz(static_cast<double>(value) * 1e6);
}

constexpr Hertz operator""_MHz(long double value) {
  return Hertz(static_cast<double>(value) * 1e6);
}

constexpr Hertz operator""_GHz(unsigned long long value) {
  return Hertz(static_cast<double>(value) * 1e9);
}

constexpr Hertz operator""_GHz(long double value) {
  return Hertz(static_cast<double>(value) * 1e9);
}

constexpr Cycles operator""_cycles(unsigned long long value) {
  return Cycles(value);
}

constexpr Cycles operator""_cycles(long double value) {
  return Cycles(value);
}

constexpr Watts operator""_W(unsigned long long value) {
  return Watts(value);
}

constexpr Watts operator""_W(long double value) {
  return Watts(value);
}

constexpr Joules operator""_J(unsigned long long value) {
  return Joules(value);
}

constexpr Joules operator""_J(long double value) {
  return Joules(value);
}

constexpr Duration operator""_s(unsigned long long value) {
  return Duration::from(Seconds(value));
}

constexpr Duration operator""_s(long double value) {
  return Duration::from(Seconds(value));
}

constexpr Duration operator""_ms(unsigned long long value) {
  return Duration::from(Seconds(static_cast<double>(value) / 1e3));
}

constexpr Duration operator""_ms(long double value) {
  return Duration::from(Seconds(static_cast<double>(value) / 1e3));
}

constexpr Duration operator""_us(unsigned long long value) {
  return Duration::from(Seconds(static_cast<double>(value) / 1e6));
}

constexpr Duration operator""_us(long double value) {
  return Duration::from(Seconds(static_cast<double>(value) / 1e6));
}

constexpr Duration operator""_ns(unsigned long long value) {
  return Duration::from(Seconds(static_cast<double>(value) / 1e9));
}

constexpr Duration operator""_ns(long double value) {
  return Duration::from(Seconds(static_cast<double>(value) / 1e9));
}

constexpr Duration operator""_ps(unsigned long long value) {
  return Duration::from(Seconds(static_cast<double>(value) / 1e12));
}

constexpr Duration operator""_ps(long double value) {
  return Duration::from(Seconds(static_cast<double>(value) / 1e12));
}

}  // namespace orrery::literals
