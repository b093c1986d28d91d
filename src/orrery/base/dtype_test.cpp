// Tests of element types.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/dtype.h"

#include <gtest/gtest.h>

#include <array>

namespace orrery {
namespace {

constexpr std::array kAll = {DType::F32,
                             DType::TF32,
                             DType::F16,
                             DType::BF16,
                             DType::F8E4M3,
                             DType::F8E5M2,
                             DType::F4E2M1,
                             DType::I64,
                             DType::I32,
                             DType::I8,
                             DType::I4,
                             DType::Bool};

TEST(DType, NamesRoundTrip) {
  for (const DType type : kAll) {
    EXPECT_EQ(parse_dtype(name(type)), type) << name(type);
  }
}

TEST(DType, KnowsWidths) {
  EXPECT_EQ(element_size(DType::F4E2M1), Bytes(0.5));
  EXPECT_EQ(element_size(DType::F8E5M2), Bytes(1));
  EXPECT_EQ(element_size(DType::BF16), Bytes(2));
  EXPECT_EQ(element_size(DType::TF32), Bytes(4)) << "TF32 is stored as f32";
  EXPECT_EQ(element_size(DType::I64), Bytes(8));
}

TEST(DType, AcceptsTheSpellingsOfTheField) {
  EXPECT_EQ(parse_dtype("bfloat16"), DType::BF16);
  EXPECT_EQ(parse_dtype("float16"), DType::F16);
  EXPECT_EQ(parse_dtype("fp8"), DType::F8E4M3);
}

TEST(DType, NamesWhatItKnowsWhenItDoesNot) {
  const auto result = parse_dtype("bf17");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(result.error().message,
            "[base.dtype] unknown element type: got 'bf17', need one of f32 tf32 f16 bf16 f8e4m3 "
            "f8e5m2 f4e2m1 i64 i32 i8 i4 bool");
}

}  // namespace
}  // namespace orrery
