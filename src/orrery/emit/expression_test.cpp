// Expressions as C++ text: parentheses, shared values, literals.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/expression.h"

#include <gtest/gtest.h>

#include <limits>

namespace orrery::emit {
namespace {

using kernel::ExprOp;

const Dialect kDialect = {{ExprOp::Exp, "exp({})"},
                          {ExprOp::Reciprocal, "1.0f / {}"},
                          {ExprOp::Max, "max({}, {})"},
                          {ExprOp::Erf, "erf({})"}};

ExpressionText text(const kernel::Expr& expression) {
  Spelling spelling;
  spelling.dialect = &kDialect;
  spelling.leaf = [](const kernel::ExprNode& node) -> std::string {
    return node.op == ExprOp::Buffer ? "acc" : "bias[i]";
  };
  spelling.inside = [](kernel::AxisId) -> std::string { return "i < n"; };
  return print(expression, spelling);
}

const kernel::Expr kAcc = kernel::buffer(kernel::BufferId(0));
const kernel::Expr kBias = kernel::tensor(kernel::TensorId(0));

TEST(Expression, ParenthesisesWhatIsNotPrimary) {
  const auto sum = binary(ExprOp::Add, kAcc, kBias);
  EXPECT_EQ(text(binary(ExprOp::Mul, sum, kernel::constant(-2))).value,
            "(acc + bias[i]) * (-2.0f)");
  EXPECT_EQ(text(unary(ExprOp::Exp, unary(ExprOp::Neg, sum))).value, "exp(-(acc + bias[i]))");
  EXPECT_EQ(text(binary(ExprOp::Max, sum, kernel::constant(0))).value, "max(acc + bias[i], 0.0f)");
  EXPECT_EQ(text(inside(kernel::AxisId(0), sum, kernel::constant(0))).value,
            "i < n ? (acc + bias[i]) : 0.0f");
}

TEST(Expression, NamesWhatIsUsedTwice) {
  const auto silu = text(unary(ExprOp::Silu, binary(ExprOp::Add, kAcc, kBias)));
  ASSERT_EQ(silu.definitions.size(), 1U);
  EXPECT_EQ(silu.definitions[0], "const float v0 = acc + bias[i];");
  EXPECT_EQ(silu.value, "v0 * (1.0f / (1.0f + exp(-v0)))");
}

TEST(Expression, LiteralsAreExactInBinary32) {
  EXPECT_EQ(literal(1), "1.0f");
  EXPECT_EQ(literal(0.1), "0.1f");
  EXPECT_EQ(literal(1e30), "1e+30f");
  EXPECT_EQ(literal(-std::numeric_limits<double>::infinity()), "-__builtin_inff()");
}

}  // namespace
}  // namespace orrery::emit
