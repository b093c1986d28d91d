// What the parts of the HIP emitter know: the program, fragments, coordinates of elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/emit/writer.h"
#include "orrery/kernel/code_counts.h"
#include "orrery/kernel/geometry.h"
#include "orrery/kernel/program.h"

namespace orrery::emit::hip {

using kernel::AxisId;
using kernel::BufferId;
using kernel::FragmentLayout;
using kernel::Place;
using kernel::TensorId;

/// One emission. `moving` changes as the writer enters loops.
struct Context {
  const kernel::Program& program;
  kernel::SharedPlan plan;
  std::set<AxisId> moving;  // axes that have a current tile; the others are at 0

  int64_t threads() const { return program.stages[0].warps * 64; }

  const kernel::SharedSlot& slot(BufferId buffer) const;
};

Error unsupported(const Context& context, std::string_view what);

/// Registers of a fragment that form one vector: those of a matrix instruction's operand (4) or
/// accumulator (4 or 16); 1 if it takes part in none.
int64_t vector_registers(const kernel::Program& program, BufferId fragment);

/// "acc_[r / 16][r % 16]": register `r` of a fragment.
std::string element(const Context& context, BufferId fragment, std::string_view r);

/// The first element of the current tile along an axis: "at_m" or "0".
std::string corner(const Context& context, AxisId axis);

/// Where a thread's elements lie. Writes `const int base_m = ...` for every axis of more than one
/// element, after which coordinate() gives the place of register `r`.
void write_bases(const Context& context,
                 const FragmentLayout& layout,
                 const std::vector<AxisId>& axes,
                 Writer& out);
std::string coordinate(const Context& context,
                       const FragmentLayout& layout,
                       AxisId axis,
                       std::string_view r);

/// Row-major place in a tensor, and whether it lies inside, for coordinates given per axis.
struct Spot {
  std::string offset;
  std::string inside;  // empty: always
};

Spot tensor_place(const Context& context,
                  TensorId tensor,
                  const std::vector<std::string>& coordinates);

/// Elements of `tensor` that one access may move when registers `run` along its last axis: limited
/// to 16 bytes and by what is promised about alignment.
int64_t access_width(const Context& context, TensorId tensor, int64_t run);

}  // namespace orrery::emit::hip
