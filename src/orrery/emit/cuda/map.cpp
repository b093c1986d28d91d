// buffer = expression: element by element in registers.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/cuda/evaluate_internal.h"

namespace orrery::emit::cuda {
namespace {

bool is_accumulator(const Scope& scope, BufferId buffer) {
  for (const auto& phase : scope.program().phases) {
    for (const auto& statement : phase.body) {
      const auto* mma = std::get_if<kernel::Mma>(&statement.op);
      if (mma != nullptr && mma->acc == buffer) return true;
    }
  }
  return false;
}

bool is_zero(const kernel::Expr& value) {
  return value.nodes.size() == 1 && value.root().op == kernel::ExprOp::Constant &&
         value.root().constant == 0.0;
}

}  // namespace

Result<void> lower_map(Scope& scope, const kernel::Map& map) {
  const Buffer& to = scope[map.to];
  if (to.space == Space::Shared) {
    return unsupported(scope.context, fmt::format("an assignment to shared buffer '{}'", to.name));
  }
  const std::string name = buffer_name(scope.program(), map.to);
  if (is_zero(map.value) && is_accumulator(scope, map.to)) {
    // The first product overwrites the accumulator instead of adding to it.
    scope.out.line("live_{} = 0;", name);
    scope.zeros[map.to] = Zeros::Pending;
    return {};
  }
  return lower_map_part(scope, map, 0, to.fragment.count(Place::Register));
}

Result<void> lower_map_part(Scope& scope, const kernel::Map& map, int64_t first, int64_t last) {
  const bool paired = scope[map.to].dtype != DType::F32;
  Evaluation evaluation = plan_evaluation(scope, map.value, map.to, paired ? 2 : 1);
  while (first % evaluation.group != 0 || last % evaluation.group != 0) evaluation.group /= 2;
  evaluation.first = first;
  evaluation.last = last;
  ORR_TRY_VOID(open_evaluation(scope, evaluation, map.value));
  scope.out.line("{}.put(i, x);", buffer_name(scope.program(), map.to));
  scope.out.close();
  return {};
}

}  // namespace orrery::emit::cuda
