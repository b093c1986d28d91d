// Where the buffers, the reduction scratch and the barriers of a program lie in shared memory.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/base/check.h"
#include "orrery/kernel/geometry.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kBufferAlignment = 1024;  // of a 128-byte swizzle atom: 8 rows of 128 bytes
constexpr int64_t kBarrierBytes = 8;
constexpr int64_t kScratchElement = 4;  // partial results are binary32

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

int64_t round_up(int64_t a, int64_t b) {
  return ceil_div(a, b) * b;
}

bool reads(const Expr& value, BufferId buffer) {
  return std::any_of(value.nodes.begin(), value.nodes.end(), [&](const ExprNode& node) {
    return node.op == ExprOp::Buffer && node.buffer == buffer;
  });
}

bool reads(const Op& op, BufferId buffer) {
  if (const auto* store = std::get_if<Store>(&op)) {
    return store->from == buffer;
  }
  if (const auto* map = std::get_if<Map>(&op)) {
    return reads(map->value, buffer);
  }
  if (const auto* reduce = std::get_if<Reduce>(&op)) {
    return reads(reduce->value, buffer);
  }
  if (const auto* mma = std::get_if<Mma>(&op)) {
    return mma->first == buffer || mma->second == buffer;
  }
  return false;
}

/// The number of the first statement (counted over all phases) that reads `buffer`; -1: none.
int64_t first_reader(const Program& program, BufferId buffer) {
  int64_t number = 0;
  for (const Phase& phase : program.phases) {
    for (const Statement& statement : phase.body) {
      if (reads(statement.op, buffer)) {
        return number;
      }
      ++number;
    }
  }
  return -1;
}

/// Elements of a fragment that differ: the product of its axes' tiles.
int64_t elements(const Program& program, const Buffer& buffer) {
  int64_t count = 1;
  for (const AxisId axis : buffer.axes) {
    count *= program[axis].tile;
  }
  return count;
}

/// How many warps hold different partial results of a reduction into `to` of a value laid out as
/// `from`.
int64_t warps_reduced(const Buffer& from, const Buffer& to) {
  int64_t count = 1;
  for (const Digit& digit : from.fragment.digits) {
    const bool dropped =
        digit.axis && std::find(to.axes.begin(), to.axes.end(), *digit.axis) == to.axes.end();
    if (digit.place == Place::Warp && dropped) {
      count *= digit.extent;
    }
  }
  return count;
}

int64_t scratch_of(const Program& program, const Reduce& reduce) {
  int64_t warps = 1;
  for (const ExprNode& node : reduce.value.nodes) {
    if (node.op == ExprOp::Buffer) {
      warps = std::max(warps, warps_reduced(program[node.buffer], program[reduce.to]));
    }
  }
  return warps == 1 ? 0 : warps * elements(program, program[reduce.to]) * kScratchElement;
}

int64_t scratch_of(const Program& program) {
  int64_t bytes = 0;
  for (const Phase& phase : program.phases) {
    for (const Statement& statement : phase.body) {
      if (const auto* reduce = std::get_if<Reduce>(&statement.op)) {
        bytes = std::max(bytes, scratch_of(program, *reduce));
      }
    }
  }
  return bytes;
}

}  // namespace

int64_t shared_bytes(const Program& program, const Buffer& buffer) {
  const double size = element_size(buffer.dtype).value();
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < buffer.axes.size(); ++i) {
    rows *= program[buffer.axes[i]].tile;
  }
  const int64_t cols = buffer.axes.empty() ? 1 : program[buffer.axes.back()].tile;
  const int64_t panel = buffer.shared.panel > 0 ? buffer.shared.panel : cols;
  int64_t panels = ceil_div(cols, panel);
  if (buffer.shared.resident > 0) {
    panels = std::min(panels, buffer.shared.resident);
  }
  return static_cast<int64_t>(static_cast<double>(panels * rows * (panel + buffer.shared.pad)) *
                              size);
}

std::vector<RingGroup> ring_groups(const Program& program) {
  std::vector<RingGroup> groups;
  std::vector<int64_t> readers;
  for (size_t p = 0; p < program.phases.size(); ++p) {
    for (const Statement& statement : program.phases[p].body) {
      const auto* load = std::get_if<Load>(&statement.op);
      if (load == nullptr || program[statement.stage].kind != StageKind::Producer) {
        continue;
      }
      const Buffer& to = program[load->to];
      const int64_t reader = first_reader(program, load->to);
      size_t g = 0;
      while (g < groups.size() &&
             !(groups[g].phase == p && groups[g].ring == to.ring && readers[g] == reader)) {
        ++g;
      }
      if (g == groups.size()) {
        groups.push_back({.buffers = {}, .phase = p, .ring = to.ring, .bytes = 0});
        readers.push_back(reader);
      }
      groups[g].buffers.push_back(load->to);
      groups[g].bytes += shared_bytes(program, to);
    }
  }
  return groups;
}

SharedPlan shared_plan(const Program& program) {
  SharedPlan plan;
  int64_t at = 0;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    if (buffer.space != Space::Shared) {
      continue;
    }
    at = round_up(at, kBufferAlignment);
    const int64_t bytes = shared_bytes(program, buffer);
    plan.slots.push_back({BufferId::from_index(i), at, bytes, buffer.ring});
    at += bytes * buffer.ring;
  }
  plan.scratch_offset = round_up(at, 16);
  plan.scratch_bytes = scratch_of(program);
  at = plan.scratch_offset + plan.scratch_bytes;
  plan.barrier_offset = round_up(at, kBarrierBytes);
  for (const RingGroup& group : ring_groups(program)) {
    plan.barriers += 2 * group.ring;
  }
  plan.total = plan.barrier_offset + plan.barriers * kBarrierBytes;
  return plan;
}

}  // namespace orrery::kernel
