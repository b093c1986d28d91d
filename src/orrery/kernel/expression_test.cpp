// Tests of expressions: builders keep evaluation order, the table of operations is whole.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/expression.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace orrery::kernel {
namespace {

TEST(Expr, ALeafIsItsOwnRoot) {
  const Expr half = constant(0.5);
  ASSERT_EQ(half.nodes.size(), 1U);
  EXPECT_EQ(half.root().op, ExprOp::Constant);
  EXPECT_EQ(half.root().constant, 0.5);
  EXPECT_EQ(buffer(BufferId{3}).root().buffer, BufferId{3});
  EXPECT_EQ(tensor(TensorId{2}).root().tensor, TensorId{2});
  EXPECT_EQ(extent(AxisId{1}).root().axis, AxisId{1});
}

TEST(Expr, OperandsComeBeforeTheirUserAndTheRootIsLast) {
  // gelu(b0 + 2) * b1: nodes b0, 2, +, gelu, b1, *.
  const Expr sum = binary(ExprOp::Add, buffer(BufferId{0}), constant(2));
  const Expr e = binary(ExprOp::Mul, unary(ExprOp::Gelu, sum), buffer(BufferId{1}));
  ASSERT_EQ(e.nodes.size(), 6U);
  EXPECT_EQ(e.nodes[2].op, ExprOp::Add);
  EXPECT_EQ(e.nodes[2].first, 0U);
  EXPECT_EQ(e.nodes[2].second, 1U);
  EXPECT_EQ(e.nodes[3].op, ExprOp::Gelu);
  EXPECT_EQ(e.nodes[3].first, 2U);
  EXPECT_EQ(e.root().op, ExprOp::Mul);
  EXPECT_EQ(e.root().first, 3U);
  EXPECT_EQ(e.root().second, 4U);
}

TEST(Expr, LinksOfASecondOperandAreShifted) {
  const Expr diff = binary(ExprOp::Sub, buffer(BufferId{1}), buffer(BufferId{2}));
  const Expr e = binary(ExprOp::Div, buffer(BufferId{0}), diff);
  ASSERT_EQ(e.nodes.size(), 5U);
  EXPECT_EQ(e.nodes[3].first, 1U);
  EXPECT_EQ(e.nodes[3].second, 2U);
}

TEST(Expr, InsideHasAnAxisAndTwoOperands) {
  const Expr e = inside(AxisId{4}, buffer(BufferId{0}), constant(0));
  EXPECT_EQ(e.root().op, ExprOp::Inside);
  EXPECT_EQ(e.root().axis, AxisId{4});
  EXPECT_EQ(e.root().first, 0U);
  EXPECT_EQ(e.root().second, 1U);
}

TEST(Expr, ComparesByValue) {
  EXPECT_EQ(unary(ExprOp::Exp2, constant(1)), unary(ExprOp::Exp2, constant(1)));
  EXPECT_NE(unary(ExprOp::Exp2, constant(1)), unary(ExprOp::Exp, constant(1)));
  EXPECT_NE(unary(ExprOp::Exp2, constant(1)), unary(ExprOp::Exp2, constant(2)));
}

TEST(Expr, AskingABuilderForTheWrongArityIsABug) {
  EXPECT_THROW(unary(ExprOp::Add, constant(1)), InternalError);
  EXPECT_THROW(binary(ExprOp::Exp, constant(1), constant(1)), InternalError);
  EXPECT_THROW(binary(ExprOp::Inside, constant(1), constant(1)), InternalError);
  EXPECT_THROW(unary(ExprOp::Exp, Expr{}), InternalError);
}

TEST(ExprOp, EveryOperationHasANameAndAnArity) {
  std::set<std::string> functions;
  for (int op = 0; op <= static_cast<int>(ExprOp::Min); ++op) {
    const auto operation = static_cast<ExprOp>(op);
    EXPECT_FALSE(name(operation).empty());
    EXPECT_GE(arity(operation), 0);
    EXPECT_LE(arity(operation), 2);
    if (name(operation) != "-") {
      EXPECT_TRUE(functions.emplace(name(operation)).second);
    }
  }
  EXPECT_EQ(name(ExprOp::Neg), "-");
  EXPECT_EQ(name(ExprOp::Sub), "-");
  EXPECT_EQ(arity(ExprOp::Inside), 2);
  EXPECT_EQ(arity(ExprOp::Silu), 1);
  EXPECT_EQ(arity(ExprOp::Extent), 0);
}

}  // namespace
}  // namespace orrery::kernel
