// Tests of instruction counts: broadcast operands once, multiply-add as one, vector widths.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/instruction_counts.h"

#include <gtest/gtest.h>

namespace orrery::kernel {
namespace {

constexpr AxisId kM{0};
constexpr AxisId kN{1};
constexpr BufferId kX{0};
constexpr BufferId kRow{1};

/// x [m, n] with 4 x 8 registers in a thread, row [m] with 4; X [m, n] and W [n] of 2-byte
/// elements.
Program example(int64_t multiple) {
  Program p;
  p.axes = {{"m", {"m", 0}, 1, 4, AxisKind::Grid, {}},
            {"n", {"n", 0}, multiple, 8, AxisKind::Grid, {}}};
  FragmentLayout tile;
  tile.digits = {{Place::Register, 8, kN, 1}, {Place::Register, 4, kM, 1}};
  p.buffers = {{"x", DType::F32, {kM, kN}, Space::Fragment, 1, {}, tile},
               {"row", DType::F32, {kM}, Space::Fragment, 1, {}, without_axis(tile, kN)}};
  p.tensors = {{"X", DType::BF16, {kM, kN}, Access::Read}, {"W", DType::BF16, {kN}, Access::Read}};
  return p;
}

double instructions(const Program& p, const Expr& value) {
  return evaluation_count(p, value, p.buffers[0].fragment).instructions;
}

TEST(EvaluationCount, OneInstructionPerElement) {
  const Program p = example(1);
  EXPECT_EQ(instructions(p, binary(ExprOp::Max, buffer(kX), constant(0))), 32);
}

TEST(EvaluationCount, WhatDoesNotVaryAlongAnAxisIsComputedOnceForIt) {
  const Program p = example(1);
  // exp2(row) 4 times, the product 32 times.
  const Expr value = binary(ExprOp::Mul, buffer(kX), unary(ExprOp::Exp2, buffer(kRow)));
  const LaneCount count = evaluation_count(p, value, p.buffers[0].fragment);
  EXPECT_EQ(count.instructions, 32 + 4);
  EXPECT_EQ(count.special, 4);
}

TEST(EvaluationCount, AMultiplyAndItsAdditionAreOneInstruction) {
  const Program p = example(1);
  const Expr product = binary(ExprOp::Mul, buffer(kX), constant(3));
  EXPECT_EQ(instructions(p, binary(ExprOp::Sub, product, buffer(kRow))), 32);
  // x * 3 + x * 3: one multiply remains.
  EXPECT_EQ(instructions(p, binary(ExprOp::Add, product, product)), 64);
}

TEST(EvaluationCount, ActivationsAreCountedAsTheirFormulas) {
  const Program p = example(1);
  // relu is max(x, 0).
  EXPECT_EQ(instructions(p, unary(ExprOp::Relu, buffer(kX))), 32);
  EXPECT_GT(instructions(p, unary(ExprOp::Gelu, buffer(kX))), 32 * 20);
}

TEST(AccessWidth, FollowsRunsAndAlignment) {
  EXPECT_EQ(access_width(example(8), example(8).buffers[0].fragment, TensorId(0)), 8);
  EXPECT_EQ(access_width(example(2), example(2).buffers[0].fragment, TensorId(0)), 2);
  EXPECT_EQ(access_width(example(1), example(1).buffers[0].fragment, TensorId(0)), 1);
}

TEST(EvaluationCount, TensorOperandsAreVectorLoads) {
  const Program p = example(8);
  // W [n]: one 16-byte load with address and bounds, eight conversions; then 32 additions.
  EXPECT_EQ(instructions(p, binary(ExprOp::Add, buffer(kX), tensor(TensorId(1)))), 3 + 8 + 32);
}

}  // namespace
}  // namespace orrery::kernel
