// Expressions as C++ statements: see evaluate_internal.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/cuda/evaluate_internal.h"

#include <algorithm>
#include <map>

#include "orrery/emit/expression.h"
#include "orrery/emit/index.h"

namespace orrery::emit::cuda {
namespace {

using kernel::Expr;
using kernel::ExprNode;
using kernel::ExprOp;

// Two-operand arithmetic has its own signs; what is approximate here is far below the rounding of
// 16-bit types (CUDA C++ Programming Guide, "mathematical functions": __fdividef, ex2.approx: 2
// ulp).
const Dialect kDialect = {
    {ExprOp::Abs, "fabsf({})"},
    {ExprOp::Exp, "exp_fast({})"},
    {ExprOp::Exp2, "exp2_fast({})"},
    {ExprOp::Log2, "__log2f({})"},
    {ExprOp::Sqrt, "sqrtf({})"},
    {ExprOp::Rsqrt, "rsqrtf({})"},
    {ExprOp::Reciprocal, "__fdividef(1.0f, {})"},
    {ExprOp::Tanh, "tanh_fast({})"},
    {ExprOp::Erf, "erff({})"},
    {ExprOp::Div, "__fdividef({}, {})"},
    {ExprOp::Max, "fmaxf({}, {})"},
    {ExprOp::Min, "fminf({}, {})"},
};

constexpr std::string_view kInfinity = "__int_as_float(0x7f800000)";

std::string operand_name(const Context& context, TensorId tensor) {
  return context.program[tensor].name + "_x";
}

std::vector<TensorId> tensors_of(const Expr& value) {
  std::vector<TensorId> tensors;
  for (const ExprNode& node : value.nodes) {
    if (node.op == ExprOp::Tensor &&
        std::find(tensors.begin(), tensors.end(), node.tensor) == tensors.end()) {
      tensors.push_back(node.tensor);
    }
  }
  return tensors;
}

/// Vector width of reading `tensor` at the elements of `like`'s registers.
int64_t vector_of(const Context& context, BufferId like, TensorId tensor) {
  const auto& t = context.program[tensor];
  if (t.axes.empty()) return 1;
  const AxisId inner = t.axes.back();
  const int64_t limit = kVectorBytes / element_bytes(t.dtype);
  return run_along(context.program[like].fragment, inner, known_multiple(context, inner, limit));
}

/// Text of a buffer operand at register `r`.
Result<std::string> buffer_text(Scope& scope, BufferId like, BufferId buffer) {
  const Buffer& b = scope[buffer];
  if (b.space == Space::Shared) {
    return unsupported(scope.context, fmt::format("shared buffer '{}' in an expression", b.name));
  }
  const auto reg = register_text(scope[like].fragment, b.fragment, b.axes, "r");
  if (!reg) {
    return unsupported(
        scope.context,
        fmt::format("layout of '{}' beside the layout of '{}'", b.name, scope[like].name));
  }
  return fmt::format("{}.get({})", buffer_name(scope.program(), buffer), *reg);
}

/// Buffers that an expression reads lie where it is evaluated, or there is no lowering.
Result<std::map<BufferId, std::string>> buffer_texts(Scope& scope,
                                                     BufferId like,
                                                     const Expr& value) {
  std::map<BufferId, std::string> texts;
  for (const ExprNode& node : value.nodes) {
    if (node.op != ExprOp::Buffer || texts.contains(node.buffer)) continue;
    ORR_TRY(texts[node.buffer], buffer_text(scope, like, node.buffer));
  }
  return texts;
}

void read_operands(Scope& scope, const Evaluation& evaluation, const Expr& value) {
  for (const TensorId tensor : tensors_of(value)) {
    const std::string name = operand_name(scope.context, tensor);
    const Meeting at = meet(scope, evaluation.like, tensor, "(i + j)");
    scope.out.line("float {}[{}];", name, evaluation.group);
    scope.out.raw("#pragma unroll");
    scope.out.line("for (int j = 0; j < {}; j += {}) operands<{}>({} + j, {}, {});",
                   evaluation.group,
                   at.vector,
                   at.vector,
                   name,
                   at.address,
                   at.valid);
  }
}

}  // namespace

std::string constant_text(double value) {
  return literal(value, kInfinity);
}

Meeting meet(Scope& scope, BufferId like, TensorId tensor, std::string_view variable) {
  const Context& context = scope.context;
  const auto& t = context.program[tensor];
  Meeting meeting{.vector = vector_of(context, like, tensor), .address = "", .valid = ""};
  std::string index = "0";
  for (size_t a = 0; a < t.axes.size(); ++a) {
    const std::string at = scope.coordinate(like, t.axes[a], variable);
    index = a == 0
                ? fmt::format("static_cast<i64>({})", at)
                : fmt::format("({}) * {} + {}", index, extent_name(context.program, t.axes[a]), at);
    if (needs_guard(context, t.axes[a])) {
      meeting.valid += fmt::format("{}{} < {}",
                                   meeting.valid.empty() ? "" : " && ",
                                   at,
                                   extent_name(context.program, t.axes[a]));
    }
  }
  meeting.address = fmt::format("{} + {}", tensor_name(context.program, tensor), index);
  if (meeting.valid.empty()) meeting.valid = "true";
  return meeting;
}

Evaluation plan_evaluation(const Scope& scope, const Expr& value, BufferId like, int64_t least) {
  const int64_t registers = scope[like].fragment.count(Place::Register);
  int64_t group = registers % least == 0 ? least : 1;
  for (const TensorId tensor : tensors_of(value)) {
    const int64_t vector = vector_of(scope.context, like, tensor);
    if (vector > group && registers % vector == 0) group = vector;
  }
  return {like, group, 0, registers};
}

Result<void> open_evaluation(Scope& scope, const Evaluation& evaluation, const Expr& value) {
  Writer& out = scope.out;
  out.raw("#pragma unroll");
  out.open(
      "for (int i = {}; i < {}; i += {})", evaluation.first, evaluation.last, evaluation.group);
  read_operands(scope, evaluation, value);
  out.line("float x[{}];", evaluation.group);
  out.raw("#pragma unroll");
  out.open("for (int j = 0; j < {}; ++j)", evaluation.group);
  out.raw("const int r = i + j;");
  ORR_TRY(const auto buffers, buffer_texts(scope, evaluation.like, value));
  Spelling spelling{.dialect = &kDialect, .leaf = {}, .inside = {}, .infinity = kInfinity};
  spelling.leaf = [&](const ExprNode& node) {
    if (node.op == ExprOp::Buffer) return buffers.at(node.buffer);
    if (node.op == ExprOp::Tensor) return operand_name(scope.context, node.tensor) + "[j]";
    return fmt::format("static_cast<float>({})", extent_name(scope.program(), node.axis));
  };
  spelling.inside = [&](AxisId axis) {
    return fmt::format("{} < {}",
                       scope.coordinate(evaluation.like, axis, "r"),
                       extent_name(scope.program(), axis));
  };
  const ExpressionText text = print(value, spelling);
  for (const std::string& definition : text.definitions) out.raw(definition);
  out.line("x[j] = {};", text.value);
  out.close();
  return {};
}

}  // namespace orrery::emit::cuda
