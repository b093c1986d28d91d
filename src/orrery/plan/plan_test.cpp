// Plans: names, text of calls, and how intervals add.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/plan/plan.h"

#include <gtest/gtest.h>

#include "orrery/plan/interval.h"

namespace orrery::plan {
namespace {

TEST(Plan, CallsReadAsTheCommandLineTakesThem) {
  EXPECT_EQ(library::to_text(library::GemmCall{.m = 32, .n = 6144, .k = 4096}),
            "gemm m=32 n=6144 k=4096 dtype=bf16");
  EXPECT_EQ(
      library::to_text(library::RowsCall{.op = "silu", .rows = 2, .cols = 8, .strided = true}),
      "silu rows=2 cols=8 dtype=bf16 strided=1");
}

TEST(Plan, EveryCallHasAKind) {
  EXPECT_EQ(kind_of(library::GemmCall{}), "gemm");
  EXPECT_EQ(kind_of(library::RowsCall{.op = "rms_norm"}), "norm");
  EXPECT_EQ(kind_of(library::RowsCall{.op = "something_new"}), "other");
}

TEST(Runtime, ThoseThatComeLaterSaySo) {
  EXPECT_EQ(*parse_runtime("graph"), Runtime::Graph);
  EXPECT_EQ(*parse_runtime("inductor"), Runtime::Inductor);
  EXPECT_EQ(parse_runtime("orrery").error().code, ErrorCode::Unsupported);
  EXPECT_EQ(parse_runtime("grph").error().message,
            "[plan.runtime] runtime: got 'grph', need graph, eager, inductor or fused");
}

TEST(Interval, IndependentErrorsPartlyCancelAndCommonOnesAdd) {
  const std::vector<Seconds> halves = {Seconds(3), Seconds(4)};
  EXPECT_DOUBLE_EQ(combined_half(halves, 0).value(), 5);
  EXPECT_DOUBLE_EQ(combined_half(halves, 1).value(), 7);
}

}  // namespace
}  // namespace orrery::plan
