// Expressions over whole tiles: each operation runs over all elements before the next one starts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "orrery/interpret/tile_internal.h"
#include "orrery/kernel/expression.h"

namespace orrery::interpret {

/// An expression compiled for a domain. Why whole tiles and not element by element: the cost of
/// choosing an operation is paid once per tile, and the loops are simple enough for the compiler to
/// vectorise.
class TileExpression {
 public:
  static Result<TileExpression> make(const kernel::Program& program,
                                     const kernel::Expr& expression,
                                     const Domain& domain);

  /// The value of every element of the domain, in binary32; valid until the next call.
  std::span<const float> evaluate(const State& state);

 private:
  struct Step {
    kernel::ExprNode node;
    std::vector<int64_t> strides;    // Buffer
    std::vector<TensorView> tensor;  // Tensor: one
    std::vector<float> values;       // the result
  };

  static Result<Step> make_step(const kernel::Program& program,
                                const kernel::ExprNode& node,
                                const Domain& domain);
  void fill_inside(const State& state, Step& step) const;
  void run(const State& state, Step& step) const;

  Domain domain_;
  std::vector<Step> steps_;
};

/// One primitive operation on binary32 values: the functions of the C library, in single precision.
float apply(kernel::ExprOp op, float x);
float apply(kernel::ExprOp op, float x, float y);

/// Axes along which an operand of the expression has more than one element, ascending.
std::vector<kernel::AxisId> operand_axes(const kernel::Program& program,
                                         const kernel::Expr& expression);

}  // namespace orrery::interpret
