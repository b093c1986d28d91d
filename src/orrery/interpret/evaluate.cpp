// Expressions over whole tiles.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "orrery/interpret/evaluate_internal.h"
#include "orrery/kernel/activation.h"

namespace orrery::interpret {
namespace {

using kernel::ExprNode;
using kernel::ExprOp;

template <class F>
void each(std::span<float> out, std::span<const float> x, F function) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = function(x[i]);
}

template <class F>
void each(std::span<float> out, std::span<const float> x, std::span<const float> y, F function) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = function(x[i], y[i]);
}

void apply_all(ExprOp op, std::span<float> out, std::span<const float> x) {
  switch (op) {  // the cheap ones inline, so that they vectorise
    case ExprOp::Neg:
      return each(out, x, [](float a) { return -a; });
    case ExprOp::Abs:
      return each(out, x, [](float a) { return std::abs(a); });
    default:
      return each(out, x, [op](float a) { return apply(op, a); });
  }
}

void apply_all(ExprOp op,
               std::span<float> out,
               std::span<const float> x,
               std::span<const float> y) {
  switch (op) {
    case ExprOp::Add:
      return each(out, x, y, [](float a, float b) { return a + b; });
    case ExprOp::Sub:
      return each(out, x, y, [](float a, float b) { return a - b; });
    case ExprOp::Mul:
      return each(out, x, y, [](float a, float b) { return a * b; });
    default:
      return each(out, x, y, [op](float a, float b) { return apply(op, a, b); });
  }
}

}  // namespace

float apply(ExprOp op, float x) {
  switch (op) {
    case ExprOp::Neg:
      return -x;
    case ExprOp::Abs:
      return std::abs(x);
    case ExprOp::Exp:
      return std::exp(x);
    case ExprOp::Exp2:
      return std::exp2(x);
    case ExprOp::Log2:
      return std::log2(x);
    case ExprOp::Sqrt:
      return std::sqrt(x);
    case ExprOp::Rsqrt:
      return 1.0F / std::sqrt(x);
    case ExprOp::Reciprocal:
      return 1.0F / x;
    case ExprOp::Tanh:
      return std::tanh(x);
    case ExprOp::Erf:
      return std::erf(x);
    default:
      ORR_UNREACHABLE();  // leaves, binary operations, and activations, which are expanded first
  }
}

float apply(ExprOp op, float x, float y) {
  switch (op) {
    case ExprOp::Add:
      return x + y;
    case ExprOp::Sub:
      return x - y;
    case ExprOp::Mul:
      return x * y;
    case ExprOp::Div:
      return x / y;
    case ExprOp::Max:
      return x < y ? y : x;
    case ExprOp::Min:
      return y < x ? y : x;
    default:
      ORR_UNREACHABLE();
  }
}

std::vector<kernel::AxisId> operand_axes(const kernel::Program& program,
                                         const kernel::Expr& expression) {
  std::set<kernel::AxisId> axes;
  const auto add = [&](const std::vector<kernel::AxisId>& more) {
    for (const kernel::AxisId axis : more) {
      if (program[axis].tile > 1) axes.insert(axis);
    }
  };
  for (const ExprNode& node : expression.nodes) {
    if (node.op == ExprOp::Buffer) add(program[node.buffer].axes);
    if (node.op == ExprOp::Tensor) add(program[node.tensor].axes);
  }
  return {axes.begin(), axes.end()};
}

Result<TileExpression> TileExpression::make(const kernel::Program& program,
                                            const kernel::Expr& expression,
                                            const Domain& domain) {
  TileExpression made;
  made.domain_ = domain;
  for (const ExprNode& node : kernel::expand_activations(expression).nodes) {
    ORR_TRY(Step step, make_step(program, node, domain));
    made.steps_.push_back(std::move(step));
  }
  return made;
}

Result<TileExpression::Step> TileExpression::make_step(const kernel::Program& program,
                                                       const ExprNode& node,
                                                       const Domain& domain) {
  Step step{node, {}, {}, std::vector<float>(static_cast<size_t>(domain.size()))};
  if (node.op == ExprOp::Constant) {
    std::fill(step.values.begin(), step.values.end(), static_cast<float>(node.constant));
  } else if (node.op == ExprOp::Buffer) {
    ORR_TRY(BufferView view, view_buffer(program, node.buffer, domain));
    step.strides = std::move(view.strides);
  } else if (node.op == ExprOp::Tensor) {
    ORR_TRY(TensorView view, TensorView::make(program, node.tensor, domain));
    step.tensor.push_back(std::move(view));
  }
  return step;
}

std::span<const float> TileExpression::evaluate(const State& state) {
  for (Step& step : steps_) run(state, step);
  return steps_.back().values;
}

// x where the element lies inside the tensor along the axis, else y.
void TileExpression::fill_inside(const State& state, Step& step) const {
  const ExprNode& node = step.node;
  const int64_t left = state.extent[node.axis.index()] - state.origin[node.axis.index()];
  const std::vector<float>& x = steps_[node.first].values;
  const std::vector<float>& y = steps_[node.second].values;
  const auto found = std::find(domain_.axes.begin(), domain_.axes.end(), node.axis);
  if (found == domain_.axes.end()) {  // the tile's corner stands for all
    step.values = left > 0 ? x : y;
    return;
  }
  const auto i = static_cast<size_t>(found - domain_.axes.begin());
  const int64_t stride = domain_.strides[i];
  const int64_t extent = domain_.extents[i];
  const int64_t size = domain_.size();
  for (int64_t e = 0; e < size; ++e) {
    const bool is_inside = (e / stride) % extent < left;
    const auto at = static_cast<size_t>(e);
    step.values[at] = is_inside ? x[at] : y[at];
  }
}

void TileExpression::run(const State& state, Step& step) const {
  const ExprNode& node = step.node;
  const std::span<float> out = step.values;
  switch (node.op) {
    case ExprOp::Constant:
      return;
    case ExprOp::Buffer:
      return copy_box(domain_.extents,
                      {out.data(), domain_.strides},
                      {state.buffers[node.buffer.index()].data(), step.strides});
    case ExprOp::Tensor:
      return step.tensor.front().read(state, domain_, out);
    case ExprOp::Extent:
      return std::fill(out.begin(), out.end(), static_cast<float>(state.extent[node.axis.index()]));
    case ExprOp::Inside:
      return fill_inside(state, step);
    default:
      break;
  }
  if (kernel::arity(node.op) == 1) return apply_all(node.op, out, steps_[node.first].values);
  apply_all(node.op, out, steps_[node.first].values, steps_[node.second].values);
}

}  // namespace orrery::interpret
