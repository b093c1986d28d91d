// Tiles on the host: domains, views of buffers and tensors, strided copies.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "orrery/interpret/tile_internal.h"

namespace orrery::interpret {
namespace {

using kernel::AxisId;
using kernel::Program;

std::vector<int64_t> row_major(std::span<const int64_t> extents) {
  std::vector<int64_t> strides(extents.size());
  int64_t stride = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= extents[i];
  }
  return strides;
}

// The innermost dimension of a strided copy.
void copy_line(
    int64_t count, float* to, int64_t to_stride, const float* from, int64_t from_stride) {
  if (to_stride == 1 && from_stride == 1) {
    std::copy_n(from, count, to);
  } else if (to_stride == 1 && from_stride == 0) {
    std::fill_n(to, count, *from);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
  }
}

}  // namespace

int64_t Domain::size() const {
  int64_t size = 1;
  for (const int64_t extent : extents) size *= extent;
  return size;
}

bool Domain::has(AxisId axis) const {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

Domain domain_of(const Program& program, std::vector<AxisId> axes) {
  Domain domain;
  for (const AxisId axis : axes) domain.extents.push_back(program[axis].tile);
  domain.axes = std::move(axes);
  domain.strides = row_major(domain.extents);
  return domain;
}

Result<BufferView> view_buffer(const Program& program, kernel::BufferId id, const Domain& domain) {
  const kernel::Buffer& buffer = program[id];
  const Domain own = domain_of(program, buffer.axes);
  BufferView view{id, std::vector<int64_t>(domain.axes.size(), 0)};
  for (size_t i = 0; i < own.axes.size(); ++i) {
    const auto found = std::find(domain.axes.begin(), domain.axes.end(), own.axes[i]);
    if (found != domain.axes.end()) {
      view.strides[static_cast<size_t>(found - domain.axes.begin())] = own.strides[i];
    } else if (own.extents[i] != 1) {
      return make_error(ErrorCode::InvalidInput,
                        "[interpret.tile] operand '{}' varies along an axis that the result lacks: "
                        "got axis '{}' of tile {}, need tile 1",
                        buffer.name,
                        program[own.axes[i]].name,
                        own.extents[i]);
    }
  }
  return view;
}

Result<TensorView> TensorView::make(const Program& program,
                                    kernel::TensorId tensor,
                                    const Domain& domain) {
  TensorView view;
  view.tensor_ = tensor;
  const std::vector<AxisId>& axes = program[tensor].axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    const kernel::Axis& axis = program[axes[i]];
    if (!domain.has(axes[i]) && axis.tile != 1) {
      return make_error(ErrorCode::InvalidInput,
                        "[interpret.tile] tensor '{}' has an axis that its tile lacks: got axis "
                        "'{}' of tile {}, need tile 1",
                        program[tensor].name,
                        axis.name,
                        axis.tile);
    }
    view.terms_.push_back({axes[i], i});
  }
  return view;
}

TensorView::Placement TensorView::place(const State& state, const Domain& domain) const {
  const HostTensor& tensor = *state.tensors[tensor_.index()];
  const std::vector<int64_t> strides = row_major(tensor.shape);
  Placement placement{0, false, domain.extents, std::vector<int64_t>(domain.axes.size(), 0)};
  for (const Term& term : terms_) {
    const int64_t origin = state.origin[term.axis.index()];
    const int64_t left = std::max<int64_t>(tensor.shape[term.tensor_axis] - origin, 0);
    placement.offset += origin * strides[term.tensor_axis];
    const auto found = std::find(domain.axes.begin(), domain.axes.end(), term.axis);
    if (found != domain.axes.end()) {
      const auto i = static_cast<size_t>(found - domain.axes.begin());
      placement.inside[i] = std::min(domain.extents[i], left);
      placement.strides[i] = strides[term.tensor_axis];
      placement.empty = placement.empty || placement.inside[i] == 0;
    } else {
      placement.empty = placement.empty || left == 0;
    }
  }
  return placement;
}

void TensorView::read(const State& state, const Domain& domain, std::span<float> out) const {
  const Placement placement = place(state, domain);
  if (placement.empty || placement.inside != domain.extents) {
    std::fill(out.begin(), out.end(), 0.0F);
  }
  if (placement.empty) return;
  const float* base = state.tensors[tensor_.index()]->values.data() + placement.offset;
  copy_box(placement.inside, {out.data(), domain.strides}, {base, placement.strides});
}

void TensorView::write(const State& state,
                       const Domain& domain,
                       std::span<const float> values) const {
  const Placement placement = place(state, domain);
  if (placement.empty) return;
  float* base = state.tensors[tensor_.index()]->values.data() + placement.offset;
  copy_box(placement.inside, {base, placement.strides}, {values.data(), domain.strides});
}

void copy_box(std::span<const int64_t> extents, Strided to, StridedConst from) {
  const size_t rank = extents.size();
  if (rank == 0) {
    *to.data = *from.data;
    return;
  }
  const size_t last = rank - 1;
  std::vector<int64_t> index(rank, 0);
  while (true) {
    copy_line(extents[last], to.data, to.strides[last], from.data, from.strides[last]);
    size_t i = last;  // advance the odometer of the outer dimensions
    for (; i-- > 0;) {
      to.data += to.strides[i];
      from.data += from.strides[i];
      if (++index[i] < extents[i]) break;
      to.data -= to.strides[i] * extents[i];
      from.data -= from.strides[i] * extents[i];
      index[i] = 0;
    }
    if (i > last) return;  // wrapped below 0: every dimension done
  }
}

}  // namespace orrery::interpret
