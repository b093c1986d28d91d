// The text form of expressions, read: one function per level of precedence.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "orrery/kernel/limits.h"
#include "orrery/kernel/parse_internal.h"

namespace orrery::kernel::detail {
namespace {

// Functions that take only expressions.
constexpr std::array kFunctions = {ExprOp::Abs,
                                   ExprOp::Exp,
                                   ExprOp::Exp2,
                                   ExprOp::Log2,
                                   ExprOp::Sqrt,
                                   ExprOp::Rsqrt,
                                   ExprOp::Reciprocal,
                                   ExprOp::Tanh,
                                   ExprOp::Erf,
                                   ExprOp::Sigmoid,
                                   ExprOp::Relu,
                                   ExprOp::Silu,
                                   ExprOp::Gelu,
                                   ExprOp::GeluTanh,
                                   ExprOp::Max,
                                   ExprOp::Min};

std::vector<std::string> function_names() {
  std::vector<std::string> names = {"inside", "extent"};
  for (const ExprOp op : kFunctions) names.emplace_back(name(op));
  return names;
}

bool is_number(const Token& token) {
  return token.kind == TokenKind::Integer || token.kind == TokenKind::Decimal || token.is("inf");
}

}  // namespace

Result<Expr> Parser::expression() {
  return sum(0);
}

Result<Expr> Parser::limited(Expr expression) const {
  if (expression.nodes.size() <= kMaxNodes) return expression;
  return scan_.error(fmt::format("at most {} operations in one expression", kMaxNodes));
}

Result<Expr> Parser::sum(size_t depth) {
  ORR_TRY(Expr left, product(depth));
  while (on_line() && (scan_.peek().is("+") || scan_.peek().is("-"))) {
    const ExprOp op = scan_.next().is("+") ? ExprOp::Add : ExprOp::Sub;
    ORR_TRY(const Expr right, product(depth));
    ORR_TRY(left, limited(binary(op, left, right)));
  }
  return left;
}

Result<Expr> Parser::product(size_t depth) {
  ORR_TRY(Expr left, sign(depth));
  while (on_line() && (scan_.peek().is("*") || scan_.peek().is("/"))) {
    const ExprOp op = scan_.next().is("*") ? ExprOp::Mul : ExprOp::Div;
    ORR_TRY(const Expr right, sign(depth));
    ORR_TRY(left, limited(binary(op, left, right)));
  }
  return left;
}

// A minus directly before a number belongs to it.
Result<Expr> Parser::sign(size_t depth) {
  ORR_TRY_VOID(room(depth, kMaxNodes, "levels of operands inside each other"));
  if (!scan_.accept("-")) return closed(depth);
  if (is_number(scan_.peek())) {
    ORR_TRY(const double value, scan_.expect_number());
    return constant(-value);
  }
  ORR_TRY(const Expr operand, sign(depth + 1));
  return limited(unary(ExprOp::Neg, operand));
}

Result<Expr> Parser::closed(size_t depth) {
  if (!on_line()) return scan_.error("an operand on the same line");
  if (is_number(scan_.peek())) {
    ORR_TRY(const double value, scan_.expect_number());
    return constant(value);
  }
  if (scan_.accept("(")) {
    ORR_TRY(Expr inner, sum(depth + 1));
    ORR_TRY_VOID(scan_.expect(")"));
    return inner;
  }
  if (scan_.peek().kind != TokenKind::Identifier) {
    return scan_.error("a number, a buffer, a tensor, a function or '('");
  }
  const Token name = scan_.next();
  if (scan_.accept("(")) return call(name, depth + 1);
  return operand(name);
}

Result<Expr> Parser::operand(const Token& name) {
  if (const std::optional<BufferId> id = find_buffer(name.text)) return kernel::buffer(*id);
  if (const std::optional<TensorId> id = find_tensor(name.text)) return kernel::tensor(*id);
  std::vector<std::string> names = names_of(program_.buffers);
  for (const Tensor& each : program_.tensors) names.push_back(each.name);
  return unknown(name, "a buffer or a tensor", names);
}

Result<Expr> Parser::call(const Token& function, size_t depth) {
  if (function.is("extent")) return call_extent();
  if (function.is("inside")) return call_inside(depth);
  const auto* op =
      std::ranges::find(kFunctions, function.text, [](ExprOp each) { return kernel::name(each); });
  if (op == kFunctions.end()) return unknown(function, "a function", function_names());
  return call_operation(*op, depth);
}

Result<Expr> Parser::call_extent() {
  ORR_TRY(const AxisId axis, axis_name());
  ORR_TRY_VOID(scan_.expect(")"));
  return kernel::extent(axis);
}

Result<Expr> Parser::call_inside(size_t depth) {
  ORR_TRY(const AxisId axis, axis_name());
  ORR_TRY_VOID(scan_.expect(","));
  ORR_TRY(const Expr value, sum(depth));
  ORR_TRY_VOID(scan_.expect(","));
  ORR_TRY(const Expr otherwise, sum(depth));
  ORR_TRY_VOID(scan_.expect(")"));
  return limited(inside(axis, value, otherwise));
}

Result<Expr> Parser::call_operation(ExprOp op, size_t depth) {
  ORR_TRY(Expr first, sum(depth));
  if (arity(op) == 1) {
    ORR_TRY_VOID(scan_.expect(")"));
    return limited(unary(op, first));
  }
  ORR_TRY_VOID(scan_.expect(","));
  ORR_TRY(const Expr second, sum(depth));
  ORR_TRY_VOID(scan_.expect(")"));
  return limited(binary(op, first, second));
}

}  // namespace orrery::kernel::detail
