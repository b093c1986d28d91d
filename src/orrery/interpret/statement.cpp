// Load, store, map and reduce statements.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include "orrery/interpret/evaluate_internal.h"
#include "orrery/interpret/rounding_internal.h"
#include "orrery/interpret/statement_internal.h"

namespace orrery::interpret {
namespace {

using kernel::AxisId;
using kernel::Program;

// Sum or maximum of each group of `group` consecutive values, in order.
void reduce_groups(kernel::ReduceKind kind,
                   size_t group,
                   std::span<const float> values,
                   std::span<float> out) {
  const bool sum = kind == kernel::ReduceKind::Sum;
  for (size_t i = 0; i < out.size(); ++i) {
    float result = sum ? 0.0F : -std::numeric_limits<float>::infinity();
    for (const float x : values.subspan(i * group, group)) {
      result = sum ? result + x : apply(kernel::ExprOp::Max, result, x);
    }
    out[i] = result;
  }
}

}  // namespace

Result<Runner> prepare(const Program& program, const kernel::Load& load) {
  const kernel::Buffer& buffer = program[load.to];
  const Domain domain = domain_of(program, buffer.axes);
  ORR_TRY(TensorView view, TensorView::make(program, load.from, domain));
  const bool narrows = buffer.dtype != program[load.from].dtype;
  return Runner([=, type = buffer.dtype, to = load.to.index()](State& state) {
    view.read(state, domain, state.buffers[to]);
    if (narrows) round_all(type, state.buffers[to]);
  });
}

Result<Runner> prepare(const Program& program, const kernel::Store& store) {
  const kernel::Buffer& buffer = program[store.from];
  const Domain domain = domain_of(program, buffer.axes);
  ORR_TRY(TensorView view, TensorView::make(program, store.to, domain));
  const DType staged = store.via ? program[*store.via].dtype : buffer.dtype;
  const DType stored = program[store.to].dtype;
  return Runner([=, type = buffer.dtype, from = store.from.index()](const State& state) {
    if (staged == type && stored == type) return view.write(state, domain, state.buffers[from]);
    std::vector<float> rounded = state.buffers[from];
    round_all(staged, rounded);
    round_all(stored, rounded);
    view.write(state, domain, rounded);
  });
}

Result<Runner> prepare(const Program& program, const kernel::Map& map) {
  const kernel::Buffer& buffer = program[map.to];
  const Domain domain = domain_of(program, buffer.axes);
  ORR_TRY(TileExpression value, TileExpression::make(program, map.value, domain));
  return Runner([value, type = buffer.dtype, to = map.to.index()](State& state) mutable {
    const std::span<const float> result = value.evaluate(state);
    std::copy(result.begin(), result.end(), state.buffers[to].begin());
    round_all(type, state.buffers[to]);
  });
}

Result<Runner> prepare(const Program& program, const kernel::Reduce& reduce) {
  const kernel::Buffer& buffer = program[reduce.to];
  std::vector<AxisId> axes =
      buffer.axes;  // then the reduced ones, innermost: each group is contiguous
  int64_t group = 1;
  for (const AxisId axis : operand_axes(program, reduce.value)) {
    if (std::find(buffer.axes.begin(), buffer.axes.end(), axis) != buffer.axes.end()) continue;
    axes.push_back(axis);
    group *= program[axis].tile;
  }
  ORR_TRY(TileExpression value,
          TileExpression::make(program, reduce.value, domain_of(program, std::move(axes))));
  return Runner([value, group, kind = reduce.kind, type = buffer.dtype, to = reduce.to.index()](
                    State& state) mutable {
    const std::span<const float> values = value.evaluate(state);
    reduce_groups(kind, static_cast<size_t>(group), values, state.buffers[to]);
    round_all(type, state.buffers[to]);
  });
}

}  // namespace orrery::interpret
