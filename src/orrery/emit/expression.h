// Expressions as C++ text, with each target's own spelling of functions and operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/kernel/expression.h"

namespace orrery::emit {

// The text of an expression depends on the target in three ways: what a function is called, how an
// operand is read, and what tells that an element lies inside the tensor. Everything else is C++
// everywhere:
//
//     const float v0 = acc[i] + bias;               a value used twice gets a name
//     0.5f * v0 * (1.0f + erff(v0 * 0.70710677f))    the rest is one expression
//
// Activations are printed as the formulas of kernel/activation.h, constants in binary32, exactly.

/// How a target writes functions: a pattern with "{}" for the first and "{1}"... for later operands
/// (fmt syntax). An operation without a row is written with its infix operator, or is not needed.
using Dialect = std::vector<std::pair<kernel::ExprOp, std::string_view>>;

/// How one statement writes operands.
struct Spelling {
  const Dialect* dialect = nullptr;
  std::function<std::string(const kernel::ExprNode&)>
      leaf;  // Buffer, Tensor and Extent: a primary expression
  std::function<std::string(kernel::AxisId)> inside;  // a condition
  std::string_view infinity = "__builtin_inff()";
  std::string_view temporary = "v";  // prefix of names
};

/// Statements that define what is used more than once, then the value.
struct ExpressionText {
  std::vector<std::string> definitions;  // "const float v0 = ...;"
  std::string value;
};

ExpressionText print(const kernel::Expr& expression, const Spelling& spelling);

/// A binary32 literal: "1.0f", "-__builtin_inff()", shortest digits that read back as the same
/// number.
std::string literal(double value, std::string_view infinity = "__builtin_inff()");

}  // namespace orrery::emit
