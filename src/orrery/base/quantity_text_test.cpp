// Tests of the text forms of quantities.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/quantity_text.h"

#include <gtest/gtest.h>

#include <sstream>

namespace orrery {
namespace {

using namespace orrery::literals;

TEST(QuantityText, ShowsThreeSignificantDigits) {
  EXPECT_EQ(to_text(7.344_ms), "7.34 ms");
  EXPECT_EQ(to_text(Bytes(16.06e9)), "16.1 GB");
  EXPECT_EQ(to_text(BytesPerSecond(3.35e12)), "3.35 TB/s");
  EXPECT_EQ(to_text(FlopsPerSecond(989.4e12)), "989 TFLOP/s");
  EXPECT_EQ(to_text(Hertz(1.98e9)), "1.98 GHz");
  EXPECT_EQ(to_text(Watts(700.0)), "700 W");
  EXPECT_EQ(to_text(Joules(0.0251)), "25.1 mJ");
  EXPECT_EQ(to_text(Flops(1.0995e12)), "1.10 TFLOP");
  EXPECT_EQ(to_text(Instructions(12345.0)), "12.3 kinstr");
  EXPECT_EQ(to_text(Seconds(2.5e-6)), "2.50 us");
}

TEST(QuantityText, RoundsIntoTheNextPrefix) {
  EXPECT_EQ(to_text(Bytes(999.6e6)), "1.00 GB");
  EXPECT_EQ(to_text(Bytes(999.4e6)), "999 MB");
  EXPECT_EQ(to_text(Bytes(9.996e6)), "10.0 MB");
  EXPECT_EQ(to_text(Bytes(99.96e6)), "100 MB");
}

TEST(QuantityText, ShowsWholeSmallBytesWithoutDecimals) {
  EXPECT_EQ(to_text(0_B), "0 B");
  EXPECT_EQ(to_text(-(0_B)), "0 B");
  EXPECT_EQ(to_text(128_B), "128 B");
  EXPECT_EQ(to_text(Bytes(0.5)), "500 mB");
}

TEST(QuantityText, ShowsExtremes) {
  EXPECT_EQ(to_text(0_us), "0 s");
  EXPECT_EQ(to_text(Duration::picoseconds(1)), "1.00 ps");
  EXPECT_EQ(to_text(Duration::max()), "forever");
  EXPECT_EQ(to_text(-(5_us)), "-5.00 us");
  EXPECT_EQ(to_text(Bytes(HUGE_VAL)), "inf B");
  EXPECT_EQ(to_text(Bytes(1e-20)), "0.00 pB");
}

TEST(QuantityText, ShowsRatesPerCycleWithoutPrefix) {
  EXPECT_EQ(to_text(128_B / 1_cycles), "128 B/cycle");
  EXPECT_EQ(to_text(Flops(4096.0) / 1_cycles), "4.1e+03 FLOP/cycle");
  EXPECT_EQ(to_text(Instructions(0.5) / 1_cycles), "0.5 instr/cycle");
  EXPECT_EQ(to_text(Flops(295.4) / 1_B), "295 FLOP/B");
  EXPECT_EQ(to_text(12_cycles), "12 cycles");
}

TEST(QuantityText, PrintsThroughFmtAndStreams) {
  EXPECT_EQ(fmt::format("{}|{:>8}", 5_us, 64_B), "5.00 us|    64 B");
  std::ostringstream out;
  out << 5_us << " " << 64_B;
  EXPECT_EQ(out.str(), "5.00 us 64 B");
}

}  // namespace
}  // namespace orrery
