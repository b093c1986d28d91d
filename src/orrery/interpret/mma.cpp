// Matrix products: binary32 accumulation, the contracted axis ascending.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "orrery/interpret/rounding_internal.h"
#include "orrery/interpret/statement_internal.h"

namespace orrery::interpret {
namespace {

using kernel::AxisId;
using kernel::Program;

bool contains(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// The product seen as [rows, contracted] x [contracted, columns]; each list may hold several axes.
struct Roles {
  std::vector<AxisId> rows;
  std::vector<AxisId> columns;
  std::vector<AxisId> contracted;
};

Result<Roles> roles_of(const Program& program, const kernel::Mma& mma) {
  const std::vector<AxisId>& acc = program[mma.acc].axes;
  const std::vector<AxisId>& first = program[mma.first].axes;
  const std::vector<AxisId>& second = program[mma.second].axes;
  Roles roles;
  std::string wrong;
  const auto sort_axis = [&](AxisId axis) {
    const bool in_acc = contains(acc, axis);
    const bool in_first = contains(first, axis);
    const bool in_second = contains(second, axis);
    if (in_acc && in_first && !in_second) return roles.rows.push_back(axis);
    if (in_acc && in_second && !in_first) return roles.columns.push_back(axis);
    if (!in_acc && in_first && in_second) return roles.contracted.push_back(axis);
    if (program[axis].tile > 1) wrong += " '" + program[axis].name + "'";
  };
  for (size_t i = 0; i < program.axes.size(); ++i) {
    const AxisId axis = AxisId::from_index(i);
    if (contains(acc, axis) || contains(first, axis) || contains(second, axis)) sort_axis(axis);
  }
  if (wrong.empty()) return roles;
  return make_error(
      ErrorCode::InvalidInput,
      "[interpret.mma] axes of '{}' += '{}' x '{}' do not form a product: got{}, need "
      "each axis in exactly two of the three",
      program[mma.acc].name,
      program[mma.first].name,
      program[mma.second].name,
      wrong);
}

// A matrix packed from a buffer: the domain's order decides the matrix' order.
struct Packed {
  Domain domain;
  BufferView view;
  std::vector<float> values;

  void load(const State& state) {
    copy_box(domain.extents,
             {values.data(), domain.strides},
             {state.buffers[view.buffer.index()].data(), view.strides});
  }
};

Result<Packed> pack(const Program& program,
                    kernel::BufferId buffer,
                    std::vector<AxisId> axes,
                    const std::vector<AxisId>& inner) {
  axes.insert(axes.end(), inner.begin(), inner.end());
  Packed packed{domain_of(program, std::move(axes)), {}, {}};
  ORR_TRY(packed.view, view_buffer(program, buffer, packed.domain));
  packed.values.resize(static_cast<size_t>(packed.domain.size()));
  return packed;
}

struct Sizes {
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t contracted = 1;
};

// acc[r, c] += first[r, k] * second[k, c]; the innermost loop runs over columns, so it vectorises
// and k still ascends for every element.
void multiply(const Sizes& sizes, const float* first, const float* second, float* acc) {
  for (int64_t r = 0; r < sizes.rows; ++r) {
    float* row = acc + r * sizes.columns;
    for (int64_t k = 0; k < sizes.contracted; ++k) {
      const float x = first[r * sizes.contracted + k];
      const float* line = second + k * sizes.columns;
      for (int64_t c = 0; c < sizes.columns; ++c) row[c] += x * line[c];
    }
  }
}

}  // namespace

Result<Runner> prepare(const Program& program, const kernel::Mma& mma) {
  ORR_TRY(const Roles roles, roles_of(program, mma));
  ORR_TRY(Packed first, pack(program, mma.first, roles.rows, roles.contracted));
  ORR_TRY(Packed second, pack(program, mma.second, roles.contracted, roles.columns));
  ORR_TRY(Packed acc, pack(program, mma.acc, roles.rows, roles.columns));
  const Sizes sizes{domain_of(program, roles.rows).size(),
                    domain_of(program, roles.columns).size(),
                    domain_of(program, roles.contracted).size()};
  return Runner([=, type = program[mma.acc].dtype](State& state) mutable {
    first.load(state);
    second.load(state);
    acc.load(state);
    multiply(sizes, first.values.data(), second.values.data(), acc.values.data());
    round_all(type, acc.values);
    copy_box(acc.domain.extents,
             {state.buffers[acc.view.buffer.index()].data(), acc.view.strides},
             {acc.values.data(), acc.domain.strides});
  });
}

}  // namespace orrery::interpret
