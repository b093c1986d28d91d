// Rounding to narrow element types: values worked out by hand, and ties.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "orrery/interpret/interpret.h"

namespace orrery::interpret {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(RoundTo, KeepsBinary32) {
  EXPECT_EQ(round_to(DType::F32, 0.1F), 0.1F);
}

TEST(RoundTo, Bf16KeepsEightBitsAndBreaksTiesToEven) {
  EXPECT_EQ(round_to(DType::BF16, 257.0F), 256.0F);  // halfway between 256 and 258: 256 is even
  EXPECT_EQ(round_to(DType::BF16, 259.0F), 260.0F);  // halfway between 258 and 260: 260 is even
  EXPECT_EQ(round_to(DType::BF16, 257.5F), 258.0F);
  EXPECT_EQ(round_to(DType::BF16, -257.0F), -256.0F);
  EXPECT_EQ(round_to(DType::BF16, std::numeric_limits<float>::max()), kInfinity);
  EXPECT_EQ(round_to(DType::BF16, 0x1p-133F), 0x1p-133F);  // smallest subnormal
  EXPECT_EQ(round_to(DType::BF16, 0x1p-135F), 0.0F);
  EXPECT_TRUE(std::isnan(round_to(DType::BF16, std::nanf(""))));
}

TEST(RoundTo, F16HasElevenBitsSubnormalsAndInfinity) {
  EXPECT_EQ(round_to(DType::F16, 2049.0F), 2048.0F);
  EXPECT_EQ(round_to(DType::F16, 2051.0F), 2052.0F);
  EXPECT_EQ(round_to(DType::F16, 65519.0F), 65504.0F);
  EXPECT_EQ(round_to(DType::F16, 65520.0F), kInfinity);  // halfway to 65536, which would be even
  EXPECT_EQ(round_to(DType::F16, 0x1p-24F), 0x1p-24F);
  EXPECT_EQ(round_to(DType::F16, 0x1p-25F), 0.0F);  // halfway to the smallest subnormal
  EXPECT_EQ(round_to(DType::F16, 0x1.8p-25F), 0x1p-24F);
  EXPECT_EQ(round_to(DType::F16, 0x1.ffep-15F), 0x1p-14F);  // rounds up into the normal numbers
  EXPECT_EQ(round_to(DType::F16, -kInfinity), -kInfinity);
  EXPECT_TRUE(std::signbit(round_to(DType::F16, -0x1p-30F)));
}

TEST(RoundTo, EightAndFourBitTypesSaturate) {
  EXPECT_EQ(round_to(DType::F8E4M3, 17.0F), 16.0F);
  EXPECT_EQ(round_to(DType::F8E4M3, 19.0F), 20.0F);
  EXPECT_EQ(round_to(DType::F8E4M3, 1e6F), 448.0F);
  EXPECT_EQ(round_to(DType::F8E5M2, -1e6F), -57344.0F);
  EXPECT_EQ(round_to(DType::F8E5M2, 9.0F), 8.0F);
  EXPECT_EQ(round_to(DType::F4E2M1, 2.5F), 2.0F);
  EXPECT_EQ(round_to(DType::F4E2M1, 5.0F), 4.0F);
  EXPECT_EQ(round_to(DType::F4E2M1, 0.25F), 0.0F);
  EXPECT_EQ(round_to(DType::F4E2M1, 0.75F), 1.0F);
}

TEST(RoundTo, Tf32HasElevenBits) {
  EXPECT_EQ(round_to(DType::TF32, 2049.0F), 2048.0F);
  EXPECT_EQ(round_to(DType::TF32, 1e30F), round_to(DType::TF32, round_to(DType::TF32, 1e30F)));
}

TEST(RoundTo, IntegersRoundToEvenAndSaturate) {
  EXPECT_EQ(round_to(DType::I8, 2.5F), 2.0F);
  EXPECT_EQ(round_to(DType::I8, 300.0F), 127.0F);
  EXPECT_EQ(round_to(DType::I32, -1.5F), -2.0F);
  EXPECT_EQ(round_to(DType::I64, 1e30F), 9223372036854775808.0F);
  EXPECT_EQ(round_to(DType::Bool, -3.0F), 1.0F);
  EXPECT_EQ(round_to(DType::Bool, 0.0F), 0.0F);
}

}  // namespace
}  // namespace orrery::interpret
