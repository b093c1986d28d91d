// Element expressions: the table of operations and the builders.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/expression.h"

#include <array>

#include "orrery/base/check.h"

namespace orrery::kernel {
namespace {

struct Row {
  ExprOp op;
  int arity;
  std::string_view name;
};

// In the order of the enum.
constexpr std::array kRows = {
    Row{ExprOp::Constant, 0, "constant"},
    Row{ExprOp::Buffer, 0, "buffer"},
    Row{ExprOp::Tensor, 0, "tensor"},
    Row{ExprOp::Extent, 0, "extent"},
    Row{ExprOp::Inside, 2, "inside"},
    Row{ExprOp::Neg, 1, "-"},
    Row{ExprOp::Abs, 1, "abs"},
    Row{ExprOp::Exp, 1, "exp"},
    Row{ExprOp::Exp2, 1, "exp2"},
    Row{ExprOp::Log2, 1, "log2"},
    Row{ExprOp::Sqrt, 1, "sqrt"},
    Row{ExprOp::Rsqrt, 1, "rsqrt"},
    Row{ExprOp::Reciprocal, 1, "reciprocal"},
    Row{ExprOp::Tanh, 1, "tanh"},
    Row{ExprOp::Erf, 1, "erf"},
    Row{ExprOp::Sigmoid, 1, "sigmoid"},
    Row{ExprOp::Relu, 1, "relu"},
    Row{ExprOp::Silu, 1, "silu"},
    Row{ExprOp::Gelu, 1, "gelu"},
    Row{ExprOp::GeluTanh, 1, "gelu_tanh"},
    Row{ExprOp::Add, 2, "+"},
    Row{ExprOp::Sub, 2, "-"},
    Row{ExprOp::Mul, 2, "*"},
    Row{ExprOp::Div, 2, "/"},
    Row{ExprOp::Max, 2, "max"},
    Row{ExprOp::Min, 2, "min"},
};

const Row& row(ExprOp op) {
  const auto index = static_cast<size_t>(op);
  ORR_CHECK(index < kRows.size() && kRows[index].op == op) << "operation " << op;
  return kRows[index];
}

constexpr size_t kMostNodes = 65535;

// The node with only those fields set that its operation uses. (A constant that is not a number
// differs from itself.)
ExprNode plain(const ExprNode& node) {
  ExprNode used{.op = node.op};
  const int operands = arity(node.op);
  if (node.op == ExprOp::Constant) used.constant = node.constant;
  if (node.op == ExprOp::Buffer) used.buffer = node.buffer;
  if (node.op == ExprOp::Tensor) used.tensor = node.tensor;
  if (node.op == ExprOp::Extent || node.op == ExprOp::Inside) used.axis = node.axis;
  if (operands >= 1) used.first = node.first;
  if (operands >= 2) used.second = node.second;
  return used;
}

Expr leaf(const ExprNode& node) {
  return Expr{{node}};
}

// Appends `operand` to `nodes`, its links shifted; returns where its root lies.
uint32_t append(std::vector<ExprNode>& nodes, const Expr& operand) {
  ORR_CHECK(!operand.nodes.empty()) << "an operand without nodes";
  const auto base = static_cast<uint32_t>(nodes.size());
  for (ExprNode node : operand.nodes) {
    const int operands = arity(node.op);
    if (operands >= 1) node.first += base;
    if (operands >= 2) node.second += base;
    nodes.push_back(node);
  }
  return static_cast<uint32_t>(nodes.size() - 1);
}

Expr join(ExprNode root, const Expr& x, const Expr& y) {
  Expr result;
  result.nodes.reserve(x.nodes.size() + y.nodes.size() + 1);
  root.first = append(result.nodes, x);
  root.second = append(result.nodes, y);
  result.nodes.push_back(root);
  return result;
}

}  // namespace

int arity(ExprOp op) {
  return row(op).arity;
}

std::string_view name(ExprOp op) {
  return row(op).name;
}

bool is_tree(const Expr& expression) {
  const std::vector<ExprNode>& nodes = expression.nodes;
  if (nodes.empty() || nodes.size() > kMostNodes) return false;
  std::vector<uint32_t> leftmost(nodes.size());  // first node of the subtree below each node
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const ExprNode& node = nodes[i];
    if (node != plain(node)) return false;
    leftmost[i] = i;
    if (arity(node.op) == 0) continue;
    const uint32_t last = arity(node.op) == 1 ? node.first : node.second;
    if (i == 0 || last != i - 1) return false;
    leftmost[i] = leftmost[last];
    if (arity(node.op) == 1) continue;
    if (leftmost[last] == 0 || node.first != leftmost[last] - 1) return false;
    leftmost[i] = leftmost[node.first];
  }
  return leftmost.back() == 0;
}

Expr constant(double value) {
  return leaf({.op = ExprOp::Constant, .constant = value});
}

Expr buffer(BufferId id) {
  return leaf({.op = ExprOp::Buffer, .buffer = id});
}

Expr tensor(TensorId id) {
  return leaf({.op = ExprOp::Tensor, .tensor = id});
}

Expr extent(AxisId axis) {
  return leaf({.op = ExprOp::Extent, .axis = axis});
}

Expr inside(AxisId axis, const Expr& value, const Expr& otherwise) {
  return join({.op = ExprOp::Inside, .axis = axis}, value, otherwise);
}

Expr unary(ExprOp op, const Expr& x) {
  ORR_CHECK(arity(op) == 1) << name(op) << " takes " << arity(op) << " operands";
  Expr result;
  result.nodes.reserve(x.nodes.size() + 1);
  const uint32_t first = append(result.nodes, x);
  result.nodes.push_back({.op = op, .first = first});
  return result;
}

Expr binary(ExprOp op, const Expr& x, const Expr& y) {
  ORR_CHECK(arity(op) == 2 && op != ExprOp::Inside) << name(op) << " is not binary";
  return join({.op = op}, x, y);
}

}  // namespace orrery::kernel
