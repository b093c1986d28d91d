// Building programs: ids for what is added, and the digits of layouts in few words.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "orrery/base/result.h"
#include "orrery/kernel/program.h"
#include "orrery/kernel/verify.h"

namespace orrery::kernel {

/// Appends to a program and hands out the ids.
class Build {
 public:
  Build(std::string name, Target target) {
    program_.name = std::move(name);
    program_.target = target;
  }

  AxisId add(Axis axis) {
    program_.axes.push_back(std::move(axis));
    return AxisId::from_index(program_.axes.size() - 1);
  }

  TensorId add(Tensor tensor) {
    program_.tensors.push_back(std::move(tensor));
    return TensorId::from_index(program_.tensors.size() - 1);
  }

  StageId add(Stage stage) {
    program_.stages.push_back(std::move(stage));
    return StageId::from_index(program_.stages.size() - 1);
  }

  BufferId add(Buffer buffer) {
    program_.buffers.push_back(std::move(buffer));
    return BufferId::from_index(program_.buffers.size() - 1);
  }

  void once() { program_.phases.push_back({}); }

  void loop(AxisId axis) { program_.phases.push_back({.loop = axis, .body = {}}); }

  void run(StageId stage, Op op) { program_.phases.back().body.push_back({stage, std::move(op)}); }

  Program& program() { return program_; }

  /// The finished program. What its family does not refuse itself (memory, registers), the verifier
  /// does.
  Result<Program> finish() {
    ORR_TRY_VOID(verify(program_));
    return std::move(program_);
  }

 private:
  Program program_;
};

/// Digits of one fragment layout; extents of 1 say nothing and are left out.
class Digits {
 public:
  Digits& reg(int64_t extent, AxisId axis, int64_t stride) {
    return put(Place::Register, extent, axis, stride);
  }

  Digits& lane(int64_t extent, AxisId axis, int64_t stride) {
    return put(Place::Lane, extent, axis, stride);
  }

  Digits& warp(int64_t extent, AxisId axis, int64_t stride) {
    return put(Place::Warp, extent, axis, stride);
  }

  /// `extent` holders of the same element.
  Digits& replica(Place place, int64_t extent) {
    if (extent > 1) {
      layout_.digits.push_back(
          {.place = place, .extent = extent, .axis = std::nullopt, .stride = 0});
    }
    return *this;
  }

  FragmentLayout layout() const { return layout_; }

 private:
  Digits& put(Place place, int64_t extent, AxisId axis, int64_t stride) {
    if (extent > 1) {
      layout_.digits.push_back({.place = place, .extent = extent, .axis = axis, .stride = stride});
    }
    return *this;
  }

  FragmentLayout layout_;
};

inline Axis grid(std::string name, Extent extent, int64_t tile, int64_t multiple = 1) {
  return {.name = std::move(name),
          .extent = std::move(extent),
          .multiple = multiple,
          .tile = tile,
          .kind = AxisKind::Grid,
          .parts = std::nullopt};
}

inline Axis whole(std::string name, Extent extent, int64_t tile, int64_t multiple = 1) {
  return {.name = std::move(name),
          .extent = std::move(extent),
          .multiple = multiple,
          .tile = tile,
          .kind = AxisKind::Whole,
          .parts = std::nullopt};
}

inline Axis walked(std::string name, Extent extent, int64_t tile, int64_t multiple = 1) {
  return {.name = std::move(name),
          .extent = std::move(extent),
          .multiple = multiple,
          .tile = tile,
          .kind = AxisKind::Loop,
          .parts = std::nullopt};
}

inline Extent symbol(std::string name) {
  return {.symbol = std::move(name), .fixed = 0};
}

inline Extent fixed(int64_t value) {
  return {.symbol = {}, .fixed = value};
}

}  // namespace orrery::kernel
