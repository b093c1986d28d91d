// Elements as bytes: known codes, and every code of the narrow types there and back.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/interpret/encode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "orrery/interpret/interpret.h"

namespace orrery::interpret {
namespace {

std::vector<int> codes(DType type, std::vector<float> values) {
  std::vector<int> result;
  const std::vector<std::byte> bytes = encode(type, values).value();
  for (const std::byte byte : bytes) {
    result.push_back(std::to_integer<int>(byte));
  }
  return result;
}

TEST(Encode, WritesKnownCodes) {
  EXPECT_EQ(codes(DType::BF16, {1.0F, -2.0F}), (std::vector<int>{0x80, 0x3f, 0x00, 0xc0}));
  EXPECT_EQ(codes(DType::F16, {1.0F, 65504.0F, 0x1p-24F}),
            (std::vector<int>{0x00, 0x3c, 0xff, 0x7b, 0x01, 0x00}));
  EXPECT_EQ(codes(DType::F8E4M3, {1.0F, 448.0F}), (std::vector<int>{0x38, 0x7e}));
  EXPECT_EQ(codes(DType::F8E5M2, {1.0F, 57344.0F}), (std::vector<int>{0x3c, 0x7b}));
  EXPECT_EQ(codes(DType::I32, {-2.0F}), (std::vector<int>{0xfe, 0xff, 0xff, 0xff}));
}

TEST(Encode, EveryCodeOfANarrowTypeComesBack) {
  for (const DType type : {DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2}) {
    const auto size = static_cast<size_t>(element_size(type).value());
    for (uint32_t code = 0; code < (1U << (8 * size)); ++code) {
      std::vector<std::byte> bytes = {static_cast<std::byte>(code & 0xffU)};
      if (size == 2) bytes.push_back(static_cast<std::byte>(code >> 8));
      const float value = decode(type, bytes).value()[0];
      const std::vector<float> one = {value};
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode(type, encode(type, one).value()).value()[0]));
      } else if (std::isfinite(value)) {
        EXPECT_EQ(round_to(type, value), value) << name(type) << " " << code;
        EXPECT_EQ(encode(type, one).value(), bytes) << name(type) << " " << code;
      }
    }
  }
}

TEST(Encode, RefusesHalfBytesAndIncompleteElements) {
  const std::vector<float> one = {1.0F};
  EXPECT_EQ(encode(DType::F4E2M1, one).error().code, ErrorCode::Unsupported);
  const std::vector<std::byte> three(3);
  EXPECT_FALSE(decode(DType::BF16, three).ok());
}

}  // namespace
}  // namespace orrery::interpret
