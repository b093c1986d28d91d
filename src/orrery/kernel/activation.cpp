// Activations spelled out in primitive operations.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/activation.h"

#include <utility>
#include <vector>

namespace orrery::kernel {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;       // sqrt(1/2)
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;  // sqrt(2/pi)
constexpr double kGeluCubic = 0.044715;                    // Hendrycks and Gimpel, arXiv:1606.08415

// Appends nodes; a `uint32_t` names one.
class Builder {
 public:
  uint32_t add(ExprNode node) {
    expr_.nodes.push_back(node);
    return static_cast<uint32_t>(expr_.nodes.size() - 1);
  }

  uint32_t number(double value) { return add(constant(value).root()); }

  uint32_t apply(ExprOp op, uint32_t x, uint32_t y = 0) {
    ExprNode node;
    node.op = op;
    node.first = x;
    node.second = y;
    return add(node);
  }

  uint32_t sigmoid(uint32_t x) {
    const uint32_t power = apply(ExprOp::Exp, apply(ExprOp::Neg, x));
    return apply(ExprOp::Reciprocal, apply(ExprOp::Add, number(1.0), power));
  }

  // 0.5 * x * (1 + y)
  uint32_t half_gate(uint32_t x, uint32_t y) {
    const uint32_t half = apply(ExprOp::Mul, number(0.5), x);
    return apply(ExprOp::Mul, half, apply(ExprOp::Add, number(1.0), y));
  }

  uint32_t gelu_tanh(uint32_t x) {
    const uint32_t cube = apply(ExprOp::Mul, apply(ExprOp::Mul, x, x), x);
    const uint32_t inner = apply(ExprOp::Add, x, apply(ExprOp::Mul, number(kGeluCubic), cube));
    const uint32_t scaled = apply(ExprOp::Mul, number(kSqrtTwoOverPi), inner);
    return half_gate(x, apply(ExprOp::Tanh, scaled));
  }

  // The node that computes activation `op` of `x`; any other operation is copied.
  uint32_t expand(ExprNode node) {
    const uint32_t x = node.first;
    switch (node.op) {
      case ExprOp::Sigmoid:
        return sigmoid(x);
      case ExprOp::Relu:
        return apply(ExprOp::Max, x, number(0.0));
      case ExprOp::Silu:
        return apply(ExprOp::Mul, x, sigmoid(x));
      case ExprOp::Gelu:
        return half_gate(x, apply(ExprOp::Erf, apply(ExprOp::Mul, x, number(kSqrtHalf))));
      case ExprOp::GeluTanh:
        return gelu_tanh(x);
      default:
        return add(node);
    }
  }

  Expr take() { return std::move(expr_); }

 private:
  Expr expr_;
};

}  // namespace

Expr expand_activations(const Expr& expression) {
  Builder builder;
  std::vector<uint32_t> moved;  // old node -> new node
  moved.reserve(expression.nodes.size());
  for (ExprNode node : expression.nodes) {
    const int operands = arity(node.op);
    if (operands >= 1) node.first = moved[node.first];
    if (operands >= 2) node.second = moved[node.second];
    moved.push_back(builder.expand(node));
  }
  return builder.take();
}

}  // namespace orrery::kernel
