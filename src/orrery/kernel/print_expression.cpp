// The text form of expressions, written with as few parentheses as their meaning allows.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "orrery/base/text.h"
#include "orrery/kernel/limits.h"
#include "orrery/kernel/print_internal.h"

namespace orrery::kernel::detail {
namespace {

// How tightly an operation binds its operands in the text; what is written with its own brackets
// binds tightest.
constexpr int kSum = 1;
constexpr int kProduct = 2;
constexpr int kSign = 3;
constexpr int kClosed = 4;

int binding_of(ExprOp op) {
  if (op == ExprOp::Add || op == ExprOp::Sub) return kSum;
  if (op == ExprOp::Mul || op == ExprOp::Div) return kProduct;
  return op == ExprOp::Neg ? kSign : kClosed;
}

}  // namespace

void Printer::expression(const Expr& expression) {
  // Anything else could be endless: a node shared at every level doubles the text each time.
  if (expression.nodes.size() > kMaxNodes || !is_tree(expression)) {
    out_ += '?';
    return;
  }
  node(expression, static_cast<uint32_t>(expression.nodes.size() - 1), kSum);
}

void Printer::node(const Expr& expression, uint32_t index, int binding) {
  const ExprNode& node = expression.nodes[index];
  const int own = binding_of(node.op);
  if (own < binding) out_ += '(';
  switch (own) {
    case kSum:
    case kProduct:
      infix(expression, node, own);
      break;
    case kSign:
      negation(expression, node);
      break;
    default:
      call(expression, node);
  }
  if (own < binding) out_ += ')';
}

// Equal operators associate to the left: a - b - c, but a - (b - c).
void Printer::infix(const Expr& expression, const ExprNode& node, int binding) {
  this->node(expression, node.first, binding);
  write(" {} ", kernel::name(node.op));
  this->node(expression, node.second, binding + 1);
}

// "-2" would be read as a constant, so the negation of a constant keeps its parentheses.
void Printer::negation(const Expr& expression, const ExprNode& node) {
  const ExprNode& operand = expression.nodes[node.first];
  const bool number = operand.op == ExprOp::Constant && !std::signbit(operand.constant);
  out_ += '-';
  this->node(expression, node.first, number ? kClosed + 1 : kSign);
}

void Printer::call(const Expr& expression, const ExprNode& node) {
  switch (node.op) {
    case ExprOp::Constant:
      out_ += format_double_exact(node.constant);
      return;
    case ExprOp::Buffer:
      name(program_.buffers, node.buffer);
      return;
    case ExprOp::Tensor:
      name(program_.tensors, node.tensor);
      return;
    default:
      break;
  }
  write("{}(", kernel::name(node.op));
  const int operands = arity(node.op);
  if (node.op == ExprOp::Extent || node.op == ExprOp::Inside) name(program_.axes, node.axis);
  if (node.op == ExprOp::Inside) out_ += ", ";
  if (operands >= 1) this->node(expression, node.first, kSum);
  if (operands >= 2) {
    out_ += ", ";
    this->node(expression, node.second, kSum);
  }
  out_ += ')';
}

}  // namespace orrery::kernel::detail
