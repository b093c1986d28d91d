// Element expressions: what a kernel computes per element between loads, matrix products and
// stores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "orrery/base/id.h"
#include "orrery/kernel/layout.h"

namespace orrery::kernel {

struct BufferTag;
struct TensorTag;
/// A buffer (tile) of a program; a tensor (argument in global memory) of a program.
using BufferId = Id<BufferTag>;
using TensorId = Id<TensorTag>;

// An expression is evaluated once per element of the tile it is assigned to, in binary32. Operands
// are named tiles; one that lacks an axis of the result is broadcast along it. A *slot* of a family
// (epilogue, prologue) is filled with an expression, e.g. the epilogue of a GEMM:
//
//     gelu(acc + bias) * 0.5 + residual         acc: buffer [m, n], bias: tensor [n], residual:
//     tensor [m, n]
//
// A tensor operand is read from global memory at the element's own coordinate (0 outside the
// tensor). `inside(s, x, y)` is x where the element's coordinate along axis s lies inside the
// tensor, else y: the mask of a partial tile. `extent(col)` is the run-time extent of an axis, as a
// number.

/// The operations of an expression.
enum class ExprOp {
  Constant,
  Buffer,
  Tensor,
  Extent,
  Inside,  // leaves, and the mask
  Neg,
  Abs,
  Exp,
  Exp2,
  Log2,
  Sqrt,
  Rsqrt,
  Reciprocal,
  Tanh,
  Erf,  // one operand
  Sigmoid,
  Relu,
  Silu,
  Gelu,
  GeluTanh,  // activations, one operand
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min  // two operands
};

/// Number of operand expressions of `op` (Inside: 2).
int arity(ExprOp op);
/// The name in text forms: "exp2", "gelu", "+" for the infix ones.
std::string_view name(ExprOp op);

/// One node; operands are earlier nodes of the same expression.
struct ExprNode {
  ExprOp op = ExprOp::Constant;
  double constant = 0.0;  // Constant
  BufferId buffer{};      // Buffer
  TensorId tensor{};      // Tensor
  AxisId axis{};          // Extent, Inside
  uint32_t first = 0;     // operand nodes
  uint32_t second = 0;

  bool operator==(const ExprNode&) const = default;
};

/// An expression in evaluation order: operands before users, the root last. Never empty once built.
struct Expr {
  std::vector<ExprNode> nodes;

  bool operator==(const Expr&) const = default;

  const ExprNode& root() const { return nodes.back(); }
};

/// Is the expression a tree in evaluation order, each node used once by the node right after its
/// operands, with nothing set that its operation does not use, and no constant that is not a
/// number? So the builders make it, and only so does it print and compare as what it means. At most
/// 65,535 nodes.
bool is_tree(const Expr& expression);

/// Builders: `add(mul(buffer(acc), constant(2)), tensor(bias))`.
Expr constant(double value);
Expr buffer(BufferId id);
Expr tensor(TensorId id);
Expr extent(AxisId axis);
Expr inside(AxisId axis, const Expr& value, const Expr& otherwise);
Expr unary(ExprOp op, const Expr& x);
Expr binary(ExprOp op, const Expr& x, const Expr& y);

}  // namespace orrery::kernel
