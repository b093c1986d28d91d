// Expressions as C++ text.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "orrery/base/check.h"
#include "orrery/kernel/activation.h"

namespace orrery::emit {
namespace {

using kernel::ExprNode;
using kernel::ExprOp;

// Text of a node, and whether it may stand as an operand without parentheses.
struct Piece {
  std::string text;
  bool primary = true;

  std::string operand() const { return primary ? text : "(" + text + ")"; }
};

std::optional<std::string_view> pattern_of(const Dialect& dialect, ExprOp op) {
  const auto row = std::find_if(
      dialect.begin(), dialect.end(), [op](const auto& entry) { return entry.first == op; });
  if (row == dialect.end()) return std::nullopt;
  return row->second;
}

std::string_view infix(ExprOp op) {
  switch (op) {
    case ExprOp::Add:
      return "+";
    case ExprOp::Sub:
      return "-";
    case ExprOp::Mul:
      return "*";
    case ExprOp::Div:
      return "/";
    default:
      ORR_CHECK(false) << "the dialect has no row for operation " << kernel::name(op);
      return {};
  }
}

class Printer {
 public:
  explicit Printer(const Spelling& spelling) : spelling_(spelling) {}

  ExpressionText print(const kernel::Expr& expression) {
    count_uses(expression);
    ExpressionText result;
    for (size_t i = 0; i < expression.nodes.size(); ++i) {
      Piece piece = print(expression.nodes[i]);
      const bool leaf = kernel::arity(expression.nodes[i].op) == 0;
      const bool names_itself = leaf && expression.nodes[i].op != ExprOp::Tensor;
      if (uses_[i] > 1 && !names_itself) {
        const std::string name =
            fmt::format("{}{}", spelling_.temporary, result.definitions.size());
        result.definitions.push_back(fmt::format("const float {} = {};", name, piece.text));
        piece = {name, true};
      }
      pieces_.push_back(std::move(piece));
    }
    result.value = pieces_.back().text;
    return result;
  }

 private:
  void count_uses(const kernel::Expr& expression) {
    uses_.assign(expression.nodes.size(), 0);
    for (const ExprNode& node : expression.nodes) {
      const int operands = kernel::arity(node.op);
      if (operands >= 1) ++uses_[node.first];
      if (operands >= 2) ++uses_[node.second];
    }
  }

  Piece print(const ExprNode& node) const {
    switch (node.op) {
      case ExprOp::Constant:
        return {literal(node.constant, spelling_.infinity), node.constant >= 0.0};
      case ExprOp::Buffer:
      case ExprOp::Tensor:
      case ExprOp::Extent:
        return {spelling_.leaf(node), true};
      case ExprOp::Inside:
        return {fmt::format("{} ? {} : {}",
                            spelling_.inside(node.axis),
                            pieces_[node.first].operand(),
                            pieces_[node.second].operand()),
                false};
      case ExprOp::Neg:
        return {"-" + pieces_[node.first].operand(), false};
      default:
        return print_operation(node);
    }
  }

  Piece print_operation(const ExprNode& node) const {
    const bool binary = kernel::arity(node.op) == 2;
    const Piece& x = pieces_[node.first];
    const Piece& y = pieces_[binary ? node.second : node.first];
    const auto pattern = pattern_of(*spelling_.dialect, node.op);
    if (!pattern) {
      return {fmt::format("{} {} {}", x.operand(), infix(node.op), y.operand()), false};
    }
    // Inside a call's parentheses nothing needs more of them; elsewhere operands do.
    const bool call = pattern->back() == ')';
    return {fmt::format(
                fmt::runtime(*pattern), call ? x.text : x.operand(), call ? y.text : y.operand()),
            call};
  }

  const Spelling& spelling_;
  std::vector<int> uses_;
  std::vector<Piece> pieces_;
};

}  // namespace

ExpressionText print(const kernel::Expr& expression, const Spelling& spelling) {
  return Printer(spelling).print(kernel::expand_activations(expression));
}

std::string literal(double value, std::string_view infinity) {
  const auto number = static_cast<float>(value);
  if (std::isinf(number)) return (number < 0.0F ? "-" : "") + std::string(infinity);
  ORR_CHECK(!std::isnan(number)) << "a constant is not a number";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

}  // namespace orrery::emit
