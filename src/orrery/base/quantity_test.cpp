// Tests of quantities, durations and their literals.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/quantity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <unordered_set>

namespace orrery {
namespace {

using namespace orrery::literals;

constexpr std::int64_t kMaxPs = std::numeric_limits<std::int64_t>::max();

TEST(Quantity, QuotientOfBytesAndBandwidthIsTime) {
  // 3.35e12 bytes at 3.35e12 bytes a second take one second.
  const auto time = Bytes(3.35e12) / 3.35_TBps;
  static_assert(std::is_same_v<decltype(time), const Seconds>);
  EXPECT_DOUBLE_EQ(time.value(), 1.0);
}

TEST(Quantity, ProductsFollowPhysics) {
  static_assert(std::is_same_v<decltype(Hertz() * Seconds()), Cycles>);
  static_assert(std::is_same_v<decltype(BytesPerCycle() * Hertz()), BytesPerSecond>);
  static_assert(std::is_same_v<decltype(FlopsPerCycle() * Cycles()), Flops>);
  static_assert(std::is_same_v<decltype(InstructionsPerCycle() * Hertz()), InstructionsPerSecond>);
  static_assert(std::is_same_v<decltype(Watts() * Seconds()), Joules>);
  static_assert(std::is_same_v<decltype(Flops() / Bytes()), FlopsPerByte>);
  static_assert(std::is_same_v<decltype(1.0 / Seconds() * Cycles()), Hertz>);
  // 128 bytes a cycle at 2 GHz are 256 GB a second.
  EXPECT_EQ(Bytes(128) / Cycles(1) * 2_GHz, 256_GBps);
}

TEST(Quantity, QuotientOfEqualsIsADouble) {
  static_assert(std::is_same_v<decltype(Bytes() / Bytes()), double>);
  static_assert(std::is_same_v<decltype(Hertz() * Seconds() / Cycles()), double>);
  EXPECT_DOUBLE_EQ(3_GB / 2_GB, 1.5);
}

TEST(Quantity, AddsScalesAndCompares) {
  Bytes sum = 1_KB + 2_KB;
  EXPECT_EQ(sum, 3_KB);
  sum -= 1_KB;
  sum *= 3;
  sum /= 2.0;
  EXPECT_EQ(sum, 3_KB);
  EXPECT_EQ(2 * 1_KB, 1_KB * 2.0);
  EXPECT_EQ(-(1_KB) + 1_KB, 0_B);
  EXPECT_LT(1_KB, 1_KiB);
  EXPECT_EQ(std::max(1_KB, 1_KiB), 1_KiB);
}

TEST(Quantity, IsBuiltOnlyOnPurpose) {
  static_assert(!std::is_convertible_v<double, Bytes>);
  static_assert(!std::is_convertible_v<Bytes, double>);
  static_assert(!std::is_constructible_v<Bytes, Flops>);
  static_assert(!std::is_constructible_v<Bytes, bool>);
  EXPECT_EQ(Bytes(std::int64_t{5}).value(), 5.0);
  EXPECT_EQ(Bytes().value(), 0.0);
}

TEST(Quantity, Hashes) {
  EXPECT_EQ((std::unordered_set<Bytes>{1_KB, 1000_B, 1_KiB}.size()), 2u);
}

TEST(Duration, CountsPicoseconds) {
  EXPECT_EQ((5_us).ps(), 5'000'000);
  EXPECT_EQ(Duration::picoseconds(7).ps(), 7);
  EXPECT_DOUBLE_EQ((5_us).microseconds(), 5.0);
  EXPECT_DOUBLE_EQ((5_ms).seconds().value(), 0.005);
  static_assert(!std::is_convertible_v<Seconds, Duration>);
  static_assert(!std::is_convertible_v<std::int64_t, Duration>);
}

TEST(Duration, RoundsSecondsToTheNearestPicosecond) {
  EXPECT_EQ(Duration::from(Seconds(1.4e-12)).ps(), 1);
  EXPECT_EQ(Duration::from(Seconds(1.6e-12)).ps(), 2);
  EXPECT_EQ(Duration::from(Seconds(-1.6e-12)).ps(), -2);
  EXPECT_EQ(Duration::from(Seconds(0.5e-12)).ps(), 1);
}

TEST(Duration, SaturatesWhatDoesNotFit) {
  EXPECT_EQ(Duration::from(Seconds(1e30)), Duration::max());
  EXPECT_EQ(Duration::from(Seconds(-1e30)), -Duration::max());
  EXPECT_EQ(Duration::from(Seconds(HUGE_VAL)), Duration::max());
  EXPECT_EQ(Duration::from(Seconds(NAN)), Duration::max());
  EXPECT_EQ(Duration::max() + 1_ps, Duration::max());
  EXPECT_EQ(-Duration::max() - 1_ps, -Duration::max());
  EXPECT_EQ(Duration::max() * 2, Duration::max());
  EXPECT_EQ(Duration::max() * -2, -Duration::max());
  EXPECT_EQ(Duration::max() * 2.5, Duration::max());
  EXPECT_EQ(1_us / 0.0, Duration::max());
  EXPECT_EQ(Duration::picoseconds(std::numeric_limits<std::int64_t>::min()).ps(), -kMaxPs);
}

TEST(Duration, MultipliesIntegersExactly) {
  // 2^53 + 1 has no double: an integer factor must not pass through one.
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ((Duration::picoseconds(odd) * 3).ps(), 3 * odd);
  EXPECT_EQ((3U * Duration::picoseconds(odd)).ps(), 3 * odd);
}

TEST(Duration, AddsScalesAndCompares) {
  Duration time = 1_us + 500_ns;
  time += 500_ns;
  time -= 1_us;
  EXPECT_EQ(time, 1_us);
  EXPECT_EQ(1_us * 1.5, 1500_ns);
  EXPECT_EQ(0.5 * 1_us, 500_ns);
  EXPECT_EQ(1_us / 4, 250_ns);
  EXPECT_DOUBLE_EQ(3_us / 2_us, 1.5);
  EXPECT_EQ(max(1_us, 2_us), 2_us);
  EXPECT_EQ(min(1_us, 2_us), 1_us);
  EXPECT_EQ(Duration(), Duration::zero());
}

TEST(Literals, UseDecimalAndBinaryPrefixes) {
  EXPECT_EQ((80_GiB).value(), 80.0 * 1024 * 1024 * 1024);
  EXPECT_EQ((64_KiB).value(), 65536.0);
  EXPECT_EQ((1.5_TiB).value(), 1.5 * 1099511627776.0);
  EXPECT_EQ((3.35_TBps).value(), 3.35e12);
  EXPECT_EQ((1980_MHz).value(), 1.98e9);
  EXPECT_EQ((989_TFLOPS).value(), 989e12);
  EXPECT_EQ((2_TFLOP).value(), 2e12);
  EXPECT_EQ((700_W * Seconds(2.0)), 1400_J);
  EXPECT_EQ(1_s, 1000_ms);
  EXPECT_EQ(1.5_ns, 1500_ps);
}

}  // namespace
}  // namespace orrery
