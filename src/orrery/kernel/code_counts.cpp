// How gfx942 code touches LDS and issues matrix instructions.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/code_counts.h"

#include <algorithm>

#include "orrery/base/check.h"
#include "orrery/kernel/geometry.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kVectorBytes = 16;  // widest LDS access (ds_read_b128)
constexpr int64_t kRowLanes = 16;     // lanes that a DPP permutation reaches
constexpr int64_t kScratchBytes = 4;  // partial results are binary32

bool contains(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

int64_t bytes_of(DType type) {
  return static_cast<int64_t>(element_size(type).value());
}

// The axis that both operands have and the accumulator lacks (the one of more than one element).
AxisId contracted_axis(const Program& program, const Mma& mma) {
  AxisId found;
  for (const AxisId axis : program[mma.first].axes) {
    const bool both = contains(program[mma.second].axes, axis);
    if (both && !contains(program[mma.acc].axes, axis)) found = axis;
  }
  return found;
}

int64_t warps_along(const FragmentLayout& layout, const std::vector<AxisId>& axes) {
  int64_t warps = 1;
  for (const Digit& digit : layout.digits) {
    if (digit.place == Place::Warp && digit.axis && contains(axes, *digit.axis)) {
      warps *= digit.extent;
    }
  }
  return warps;
}

struct Side {
  int64_t warps = 1;
  int64_t size = 1;  // rows (columns) of the instruction
};

MmaOperand operand_of(const Program& program, BufferId id, AxisId contracted, const Side& side) {
  const Buffer& buffer = program[id];
  MmaOperand operand;
  operand.shared = buffer.space == Space::Shared;
  operand.contiguous = operand.shared && buffer.axes.back() == contracted;
  int64_t tile = 1;
  for (const AxisId axis : buffer.axes) {
    if (axis != contracted) tile *= program[axis].tile;
  }
  operand.blocks = tile / std::max<int64_t>(1, side.warps * side.size);
  return operand;
}

// Rows of a shared buffer start at multiples of 16 bytes.
bool has_aligned_rows(const Program& program, BufferId id) {
  const Buffer& buffer = program[id];
  const int64_t pitch = program[buffer.axes.back()].tile + buffer.shared.pad;
  return pitch * bytes_of(buffer.dtype) % kVectorBytes == 0;
}

// Reads of one operand, all steps together.
struct Reads {
  int64_t count = 0;
  int64_t bytes = 0;  // of a lane
};

Reads reads_of(const MmaOperand& operand, const MmaAccess& access) {
  if (!operand.shared) return {};
  const int64_t elements = operand.blocks * access.steps * 4;
  const int64_t width = operand.contiguous ? access.run : 1;
  return {elements / width, elements * 2};
}

class Counter {
 public:
  Counter(const Program& program, CodeCounts& code) : program_(program), code_(code) {}

  void operator()(const Load& load) {
    if (program_[load.to].space != Space::Shared) return;
    const SharedCopy copy = shared_copy(program_, load.to, 64 * program_.stages[0].warps);
    const int64_t times = looped && program_[load.to].ring > 1 ? 2 : 1;
    code_.shared_stores += static_cast<double>(times * copy.per_thread);
    code_.shared_store_bytes += static_cast<double>(times * copy.per_thread * copy.width *
                                                    bytes_of(program_[load.to].dtype));
  }

  void operator()(const Store&) {}

  void operator()(const Map&) {}

  void operator()(const Reduce& reduce) {
    const ReduceAccess access = reduce_access(program_, reduce);
    const auto results = static_cast<double>(access.results);
    code_.lane_exchanges += results * static_cast<double>(access.exchanged_masks.size());
    if (access.warps == 1) return;
    const auto warps = static_cast<double>(access.warps);
    code_.shared_stores += results;
    code_.shared_store_bytes += results * kScratchBytes;
    code_.shared_loads += results * warps / static_cast<double>(access.scratch_width);
    code_.shared_load_bytes += results * warps * kScratchBytes;
  }

  void operator()(const Mma& mma) {
    const MmaAccess access = mma_access(program_, mma);
    code_.matrix_instructions +=
        static_cast<double>(access.first.blocks * access.second.blocks * access.steps);
    for (const MmaOperand& operand : {access.first, access.second}) {
      const Reads reads = reads_of(operand, access);
      code_.shared_loads += static_cast<double>(reads.count);
      code_.shared_load_bytes += static_cast<double>(reads.bytes);
    }
  }

  bool looped = false;

 private:
  const Program& program_;
  CodeCounts& code_;
};

}  // namespace

SharedCopy shared_copy(const Program& program, BufferId to, int64_t threads) {
  const Buffer& buffer = program[to];
  SharedCopy copy;
  int64_t elements = 1;
  for (const AxisId axis : buffer.axes) elements *= program[axis].tile;
  copy.columns = buffer.axes.empty() ? 1 : program[buffer.axes.back()].tile;
  copy.pitch = copy.columns + buffer.shared.pad;
  while (2 * copy.width * bytes_of(buffer.dtype) <= kVectorBytes &&
         copy.columns % (2 * copy.width) == 0 && copy.pitch % (2 * copy.width) == 0) {
    copy.width *= 2;
  }
  copy.vectors = elements / copy.width;
  copy.per_thread = (copy.vectors + threads - 1) / threads;
  return copy;
}

MmaAccess mma_access(const Program& program, const Mma& mma) {
  MmaAccess access;
  access.contracted = contracted_axis(program, mma);
  const FragmentLayout& layout = program[mma.acc].fragment;
  access.row_warps = warps_along(layout, program[mma.first].axes);
  access.column_warps = warps_along(layout, program[mma.second].axes);
  access.first = operand_of(program, mma.first, access.contracted, {access.row_warps, mma.shape.m});
  access.second =
      operand_of(program, mma.second, access.contracted, {access.column_warps, mma.shape.n});
  const int64_t depth = access.contracted.valid() ? program[access.contracted].tile : 1;
  access.steps = depth / std::max<int64_t>(1, mma.shape.k);
  const bool pairs = access.first.contiguous && access.second.contiguous &&
                     has_aligned_rows(program, mma.first) &&
                     has_aligned_rows(program, mma.second) && access.steps % 2 == 0;
  access.run = pairs ? 8 : 4;
  return access;
}

ReduceAccess reduce_access(const Program& program, const Reduce& reduce) {
  ReduceAccess access;
  size_t most = 0;
  for (const ExprNode& node : reduce.value.nodes) {
    if (node.op != ExprOp::Buffer) continue;
    const size_t rank = program[node.buffer].axes.size();
    if (!access.domain.valid() || rank > most) access.domain = node.buffer;
    most = std::max(most, rank);
  }
  access.results = program[reduce.to].fragment.count(Place::Register);
  if (!access.domain.valid()) return access;
  int64_t lane = 1;
  int64_t reduced_below = 1;  // lanes ^ 1 .. lanes ^ (this - 1) already hold the same value
  for (const Digit& digit : program[access.domain].fragment.digits) {
    const bool dropped = digit.axis && !contains(program[reduce.to].axes, *digit.axis);
    if (digit.place == Place::Warp && dropped) access.warps *= digit.extent;
    if (digit.place != Place::Lane) continue;
    for (int64_t mask = lane; dropped && mask < lane * digit.extent; mask *= 2) {
      const bool near = mask <= 2 || (mask < kRowLanes && reduced_below == mask);
      (near ? access.permuted_masks : access.exchanged_masks).push_back(mask);
      if (reduced_below == mask) reduced_below *= 2;
    }
    lane *= digit.extent;
  }
  while (access.scratch_width < 4 && access.warps % (2 * access.scratch_width) == 0) {
    access.scratch_width *= 2;
  }
  return access;
}

CodeCounts code_counts(const Program& program) {
  CodeCounts code;
  code.shared_bytes = shared_plan(program).total;
  if (program.target != Target::Gfx942) return code;
  Counter counter(program, code);
  for (const Phase& phase : program.phases) {
    counter.looped = phase.loop.has_value();
    for (const Statement& statement : phase.body) std::visit(counter, statement.op);
  }
  return code;
}

}  // namespace orrery::kernel
