// The interpreter against formulas in binary64, over random shapes of every family.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "cases.h"

namespace orrery::agreement {
namespace {

constexpr int kCases = 50;
constexpr unsigned kSeed = 20250101;

void check(Case c) {
  SCOPED_TRACE(c.title);
  for (const kernel::Program& program : c.kernels) {
    const auto result = interpret::run(program, c.extents, c.tensors);
    ASSERT_TRUE(result.ok()) << result.error().message;
  }
  for (const Case::Expected& expected : c.expected) {
    const std::vector<float>& got = find(c.tensors, expected.tensor).values;
    ASSERT_EQ(got.size(), expected.values.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], expected.values[i], expected.tolerance[i])
          << expected.tensor << " element " << i;
    }
  }
}

template <class Make>
void check_all(Make make) {
  std::mt19937 random(kSeed);
  for (int i = 0; i < kCases; ++i) {
    check(make(random, random, i));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Interpreter, GemmIsTheProductWithItsEpilogue) {
  check_all(gemm_case);
}

TEST(Interpreter, AddRmsNormIsItsFormula) {
  check_all(add_rms_norm_case);
}

TEST(Interpreter, DecodeAttentionIsSoftmaxOfScoresTimesValues) {
  check_all(decode_case);
}

}  // namespace
}  // namespace orrery::agreement
