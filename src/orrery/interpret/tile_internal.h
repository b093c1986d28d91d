// Tiles on the host: the running state, element domains, and how operands lie along them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/interpret/interpret.h"
#include "orrery/kernel/program.h"

namespace orrery::interpret {

/// Everything that changes while a program runs, and the arrays it runs on.
struct State {
  std::vector<int64_t> extent;              // per axis
  std::vector<int64_t> origin;              // per axis: first element of the current tile
  std::vector<std::vector<float>> buffers;  // per buffer, row-major over its axes' tiles
  std::vector<HostTensor*> tensors;         // per tensor
};

/// The box of elements that a statement works on: axes with their tile extents, row-major.
struct Domain {
  std::vector<kernel::AxisId> axes;
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;

  int64_t size() const;
  bool has(kernel::AxisId axis) const;
};

Domain domain_of(const kernel::Program& program, std::vector<kernel::AxisId> axes);

/// A buffer seen from a domain: its stride along each axis of the domain, 0 where it lacks the axis
/// (broadcast). Error if the buffer has a further axis of tile > 1.
struct BufferView {
  kernel::BufferId buffer;
  std::vector<int64_t> strides;
};

Result<BufferView> view_buffer(const kernel::Program& program,
                               kernel::BufferId buffer,
                               const Domain& domain);

/// A tensor seen from a domain. Axes of the tensor that the domain lacks are read at the tile's
/// corner.
class TensorView {
 public:
  static Result<TensorView> make(const kernel::Program& program,
                                 kernel::TensorId tensor,
                                 const Domain& domain);

  /// The tile at the current origin into `out` (one value per element of the domain), 0 outside the
  /// tensor.
  void read(const State& state, const Domain& domain, std::span<float> out) const;
  /// `values` (one per element of the domain) to the tensor, except what lies outside it.
  void write(const State& state, const Domain& domain, std::span<const float> values) const;

 private:
  struct Term {
    kernel::AxisId axis;
    size_t tensor_axis = 0;
  };

  struct Placement {
    int64_t offset = 0;
    bool empty = false;            // no element inside
    std::vector<int64_t> inside;   // elements inside the tensor, per domain axis
    std::vector<int64_t> strides;  // of the tensor, per domain axis
  };

  Placement place(const State& state, const Domain& domain) const;

  kernel::TensorId tensor_;
  std::vector<Term> terms_;
};

/// Copies a box of `extents` elements; a stride of 0 repeats an element.
struct Strided {
  float* data = nullptr;
  std::span<const int64_t> strides;
};

struct StridedConst {
  const float* data = nullptr;
  std::span<const int64_t> strides;
};

void copy_box(std::span<const int64_t> extents, Strided to, StridedConst from);

}  // namespace orrery::interpret
