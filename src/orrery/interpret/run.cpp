// Runs a program: every unit, its phases, the tiles of their loops.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "orrery/interpret/interpret.h"
#include "orrery/interpret/statement_internal.h"
#include "orrery/kernel/geometry.h"

namespace orrery::interpret {
namespace {

using kernel::AxisId;
using kernel::Extents;
using kernel::Program;

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// What is wrong with the host's side of one tensor; empty if nothing.
std::string complaint(const kernel::Tensor& tensor,
                      const std::vector<int64_t>& shape,
                      const HostTensor* host) {
  if (host == nullptr)
    return fmt::format("'{}' is missing, need {}", tensor.name, shape_text(shape));
  if (host->shape != shape) {
    return fmt::format("'{}' has another shape: got {}, need {}",
                       tensor.name,
                       shape_text(host->shape),
                       shape_text(shape));
  }
  int64_t size = 1;
  for (const int64_t extent : shape) size *= extent;
  if (static_cast<int64_t>(host->values.size()) == size) return {};
  return fmt::format(
      "'{}' has another number of values: got {}, need {}", tensor.name, host->values.size(), size);
}

Result<void> bind_tensors(const Program& program, std::span<HostTensor> hosts, State& state) {
  std::vector<std::string> wrong;
  for (const kernel::Tensor& tensor : program.tensors) {
    std::vector<int64_t> shape;
    for (const AxisId axis : tensor.axes) shape.push_back(state.extent[axis.index()]);
    const auto found = std::find_if(
        hosts.begin(), hosts.end(), [&](const HostTensor& h) { return h.name == tensor.name; });
    HostTensor* host = found == hosts.end() ? nullptr : &*found;
    std::string text = complaint(tensor, shape, host);
    if (!text.empty()) wrong.push_back(std::move(text));
    state.tensors.push_back(host);
  }
  if (wrong.empty()) return {};
  return make_error(ErrorCode::InvalidInput,
                    "[interpret.run] tensors do not fit kernel '{}': {}",
                    program.name,
                    fmt::join(wrong, "; "));
}

Result<State> make_state(const Program& program,
                         const Extents& extents,
                         std::span<HostTensor> tensors) {
  State state;
  for (size_t i = 0; i < program.axes.size(); ++i) {
    const AxisId axis = AxisId::from_index(i);
    ORR_TRY(const int64_t extent, kernel::extent_of(program, axis, extents));
    ORR_TRY_VOID(kernel::tiles_of(program, axis, extents));
    state.extent.push_back(extent);
  }
  state.origin.assign(program.axes.size(), 0);
  for (const kernel::Buffer& buffer : program.buffers) {
    const int64_t size = domain_of(program, buffer.axes).size();
    state.buffers.emplace_back(static_cast<size_t>(size), 0.0F);
  }
  ORR_TRY_VOID(bind_tensors(program, tensors, state));
  return state;
}

struct PreparedPhase {
  std::optional<AxisId> loop;
  std::vector<Runner> body;
};

Result<std::vector<PreparedPhase>> prepare_phases(const Program& program) {
  std::vector<PreparedPhase> phases;
  for (const kernel::Phase& phase : program.phases) {
    PreparedPhase prepared{phase.loop, {}};
    for (const kernel::Statement& statement : phase.body) {
      ORR_TRY(Runner runner,
              std::visit([&](const auto& op) { return prepare(program, op); }, statement.op));
      prepared.body.push_back(std::move(runner));
    }
    phases.push_back(std::move(prepared));
  }
  return phases;
}

void run_body(const PreparedPhase& phase, State& state) {
  for (const Runner& statement : phase.body) statement(state);
}

Result<void> run_loop(const Program& program,
                      const Extents& extents,
                      const PreparedPhase& phase,
                      State& state) {
  const kernel::Axis& axis = program[*phase.loop];
  int64_t part = 0;
  if (axis.parts) part = state.origin[axis.parts->index()] / program[*axis.parts].tile;
  ORR_TRY(const kernel::Walk walk, kernel::walk_of(program, *phase.loop, part, extents));
  int64_t& origin = state.origin[phase.loop->index()];
  for (int64_t tile = walk.first; tile < walk.last; ++tile) {
    origin = tile * axis.tile;
    run_body(phase, state);
  }
  origin = 0;
  return {};
}

// Moves to a unit; false for the units beyond the tensors that a cluster's rounding adds.
bool enter_unit(const Program& program, const kernel::UnitMap& map, int64_t unit, State& state) {
  const std::vector<int64_t> tiles = map.at(unit);
  for (size_t i = 0; i < map.order.size(); ++i) {
    const AxisId axis = map.order[i];
    const int64_t origin = tiles[i] * program[axis].tile;
    if (origin >= state.extent[axis.index()]) return false;
    state.origin[axis.index()] = origin;
  }
  for (std::vector<float>& buffer : state.buffers) std::fill(buffer.begin(), buffer.end(), 0.0F);
  return true;
}

}  // namespace

Result<void> run(const Program& program, const Extents& extents, std::span<HostTensor> tensors) {
  ORR_TRY(State state, make_state(program, extents, tensors));
  ORR_TRY(const std::vector<PreparedPhase> phases, prepare_phases(program));
  ORR_TRY(const kernel::UnitMap map, kernel::unit_map(program, extents));
  for (int64_t unit = 0; unit < map.units(); ++unit) {
    if (!enter_unit(program, map, unit, state)) continue;
    for (const PreparedPhase& phase : phases) {
      if (phase.loop) {
        ORR_TRY_VOID(run_loop(program, extents, phase, state));
      } else {
        run_body(phase, state);
      }
    }
  }
  return {};
}

}  // namespace orrery::interpret
