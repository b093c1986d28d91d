// The work of one statement on the pipes of an SM, and what of it must happen in sequence.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "orrery/kernel/code_counts.h"
#include "orrery/kernel/instruction_counts.h"
#include "orrery/kernel/profile_internal.h"

namespace orrery::kernel {
namespace {

// Instructions of the emitted code around a statement: counted in the source that the CUDA emitter
// writes, one for each operation of a PTX wrapper. Not read off machine code.
constexpr double kWait = 4;        // mbarrier try_wait, its predicate, branch, parity
constexpr double kArrive = 2;      // elect and arrive
constexpr double kLoop = 6;        // counter, slot, parity, branch
constexpr double kCopy = 4;        // coordinates and one tensor copy
constexpr double kMatrix = 3;      // a wgmma and the two descriptors' additions
constexpr double kBatch = 3;       // fence, commit, wait of a batch of wgmmas
constexpr double kAddress = 2;     // of a shared or global access of a thread
constexpr double kStagePass = 12;  // barriers, fence, tensor store of one staged panel
constexpr double kShuffle = 2;     // shuffle and the operation that combines
constexpr int64_t kWarpgroup = 4;
constexpr int64_t kAccessBytes = 16;

bool has(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

double elements(const Program& program, const Buffer& buffer) {
  double count = 1;
  for (const AxisId axis : buffer.axes) {
    count *= static_cast<double>(program[axis].tile);
  }
  return count;
}

/// Adds instructions that every one of `warps` warps executes.
void issue(StatementCount& count, double per_warp, int64_t warps) {
  count.issue_per_warp += per_warp;
  count.work.issue += Instructions(per_warp * static_cast<double>(warps));
}

/// Adds the same of an expression, whose lanes count too.
void compute(const Counting& c, StatementCount& count, const LaneCount& lanes, int64_t warps) {
  issue(count, lanes.instructions, warps);
  const auto threads = static_cast<double>(warps * warp_size(c.program.target));
  count.work.fma += (lanes.instructions - lanes.special) * threads;
  count.work.special += lanes.special * threads;
}

// ---- loads and stores

StatementCount count_load_shared(const Counting& c, const Stage& stage, const Load& load) {
  StatementCount count;
  const Buffer& to = c.program[load.to];
  count.work.l2_read = tile_sectors(c, load.from);
  count.chain.memory = 1;
  const auto& cluster = c.program.cluster;
  if (cluster && !has(c.program[load.from].axes, cluster->axis)) {
    count.work.l2_read /= cluster->size;  // one copy for all of them: multicast
  }
  if (stage.kind == StageKind::Producer) {
    // What tensor copies write is not counted against the bandwidth of shared memory: a 128 x 256
    // tile would need all of it (80 B/clk for wgmma's operands and 48 for the copies), and such
    // kernels reach 95 % of the matrix rate on an H200.
    const int64_t cols = c.program[to.axes.back()].tile;
    const int64_t panels = to.shared.panel > 0 ? (cols + to.shared.panel - 1) / to.shared.panel : 1;
    issue(count, kCopy * static_cast<double>(panels), 1);
    return count;
  }
  // The workers carry it through their registers: a global load and a shared store of 16 bytes
  // each.
  const double tile = elements(c.program, to) * element_size(to.dtype).value();
  count.work.shared_write = Bytes(tile);
  const auto threads = static_cast<double>(stage.warps * warp_size(c.program.target));
  const double accesses = std::ceil(tile / (threads * kAccessBytes));
  issue(count, accesses * (2 + kAddress), stage.warps);
  return count;
}

StatementCount count_load(const Counting& c, const Stage& stage, const Load& load) {
  const Buffer& to = c.program[load.to];
  if (to.space == Space::Shared) {
    return count_load_shared(c, stage, load);
  }
  StatementCount count;
  const auto registers = static_cast<double>(to.fragment.count(Place::Register));
  const auto width = static_cast<double>(access_width(c.program, to.fragment, load.from));
  issue(count, registers / std::min(registers, width) * (1 + kAddress), stage.warps);
  count.work.l2_read = tile_sectors(c, load.from);
  count.chain.memory = 1;
  return count;
}

void count_staging(const Counting& c,
                   const Stage& stage,
                   const Store& store,
                   StatementCount& count) {
  const Buffer& from = c.program[store.from];
  const Buffer& via = c.program[*store.via];
  const double bytes = elements(c.program, from) * element_size(from.dtype).value();
  count.work.shared_write = Bytes(bytes);
  count.work.shared_read = Bytes(bytes);
  // stmatrix x4: eight elements of 16 bits a lane, or four accesses of 4 bytes for wider ones.
  const auto registers = static_cast<double>(from.fragment.count(Place::Register));
  const double per_store = element_size(from.dtype) < Bytes(4) ? 8 : 4;
  issue(count, registers / per_store * (1 + kAddress), stage.warps);
  const int64_t cols = c.program[via.axes.back()].tile;
  const int64_t panel = via.shared.panel > 0 ? via.shared.panel : cols;
  const int64_t resident = std::max<int64_t>(1, via.shared.resident);
  const double passes =
      std::ceil(static_cast<double>(cols) / static_cast<double>(panel * resident));
  issue(count, passes * kStagePass, stage.warps);
  count.chain.barriers += 2 * passes;
  count.chain.shared += passes;
}

StatementCount count_store(const Counting& c, const Stage& stage, const Store& store) {
  StatementCount count;
  const Buffer& from = c.program[store.from];
  count.work.l2_write = tile_sectors(c, store.to);
  if (store.via) {
    count_staging(c, stage, store, count);
    return count;
  }
  const auto registers = static_cast<double>(from.fragment.count(Place::Register));
  const auto width = static_cast<double>(access_width(c.program, from.fragment, store.to));
  issue(count, registers / std::min(registers, width) * (1 + kAddress), stage.warps);
  return count;
}

// ---- expressions

/// Tensor operands of an expression: bytes from L2, one dependent access.
void count_operands(const Counting& c, const Expr& value, StatementCount& count) {
  for (size_t i = 0; i < value.nodes.size(); ++i) {
    const ExprNode& node = value.nodes[i];
    const bool again =
        std::any_of(value.nodes.begin(),
                    value.nodes.begin() + static_cast<int64_t>(i),
                    [&](const ExprNode& other) {
                      return other.op == ExprOp::Tensor && other.tensor == node.tensor;
                    });
    if (node.op == ExprOp::Tensor && !again) {
      count.work.l2_read += tile_sectors(c, node.tensor);
      count.chain.memory = 1;
    }
  }
}

bool is_mma_accumulator(const Program& program, BufferId buffer) {
  for (const Phase& phase : program.phases) {
    for (const Statement& statement : phase.body) {
      const auto* mma = std::get_if<Mma>(&statement.op);
      if (mma != nullptr && mma->acc == buffer) {
        return true;
      }
    }
  }
  return false;
}

StatementCount count_map(const Counting& c, const Stage& stage, const Map& map) {
  StatementCount count;
  const Buffer& to = c.program[map.to];
  const ExprNode& root = map.value.root();
  if (root.op == ExprOp::Constant && root.constant == 0 && is_mma_accumulator(c.program, map.to)) {
    return count;  // the first product overwrites instead of adding
  }
  LaneCount lanes = evaluation_count(c.program, map.value, to.fragment);
  const auto registers = static_cast<double>(to.fragment.count(Place::Register));
  lanes.instructions += registers * pack_count(c.program.target, to.dtype);
  compute(c, count, lanes, stage.warps);
  count_operands(c, map.value, count);
  count.chain.instructions = evaluation_depth(c.program, map.value);
  return count;
}

/// The fragment operand with most axes: its registers are walked.
const Buffer* walked(const Program& program, const Expr& value) {
  const Buffer* widest = nullptr;
  for (const ExprNode& node : value.nodes) {
    if (node.op == ExprOp::Buffer && program[node.buffer].space == Space::Fragment &&
        (widest == nullptr || program[node.buffer].axes.size() > widest->axes.size())) {
      widest = &program[node.buffer];
    }
  }
  return widest;
}

/// Product of the extents of digits of `place` along axes that the result lacks.
int64_t reduced(const Buffer& from, const Buffer& to, Place place) {
  int64_t count = 1;
  for (const Digit& digit : from.fragment.digits) {
    if (digit.place == place && digit.axis && !has(to.axes, *digit.axis)) {
      count *= digit.extent;
    }
  }
  return count;
}

StatementCount count_reduce(const Counting& c, const Stage& stage, const Reduce& reduce) {
  StatementCount count;
  const Buffer& to = c.program[reduce.to];
  const Buffer* from = walked(c.program, reduce.value);
  if (from == nullptr) {
    return count;
  }
  LaneCount lanes = evaluation_count(c.program, reduce.value, from->fragment);
  const auto registers = static_cast<double>(from->fragment.count(Place::Register));
  const auto results = static_cast<double>(to.fragment.count(Place::Register));
  // A sum of products adds by fused multiply-add.
  const bool fused = reduce.kind == ReduceKind::Sum && reduce.value.root().op == ExprOp::Mul;
  lanes.instructions += fused ? 0 : registers;
  const double levels = std::log2(static_cast<double>(reduced(*from, to, Place::Lane)));
  lanes.instructions += levels * kShuffle * results;
  const int64_t warps = reduced(*from, to, Place::Warp);
  if (warps > 1) {
    lanes.instructions += results * (1 + kAddress) + results * static_cast<double>(warps) * 2;
    const auto threads = static_cast<double>(stage.warps * warp_size(c.program.target));
    count.work.shared_write += Bytes(4 * results * static_cast<double>(stage.warps));
    count.work.shared_read += Bytes(4 * results * static_cast<double>(warps) * threads);
    count.chain.barriers = 2;
    count.chain.shared = 2;
  }
  compute(c, count, lanes, stage.warps);
  count.chain.shared += levels;
  count.chain.instructions = evaluation_depth(c.program, reduce.value) +
                             static_cast<double>(reduced(*from, to, Place::Register));
  return count;
}

// ---- products

struct Product {
  int64_t rows = 1;  // tiles
  int64_t columns = 1;
  int64_t depth = 1;
};

Product product_of(const Program& program, const Mma& mma) {
  Product product;
  const Buffer& acc = program[mma.acc];
  const Buffer& first = program[mma.first];
  for (const AxisId axis : first.axes) {
    (has(acc.axes, axis) ? product.rows : product.depth) = program[axis].tile;
  }
  for (const AxisId axis : program[mma.second].axes) {
    if (has(acc.axes, axis)) {
      product.columns = program[axis].tile;
    }
  }
  return product;
}

/// Instructions of the shape that the CTA executes.
double instructions_of(const Product& p, MmaShape shape) {
  return static_cast<double>((p.rows / shape.m) * (p.columns / shape.n) * (p.depth / shape.k));
}

/// wgmma reads both operands from shared memory once per instruction, unless the first lies in
/// registers.
void count_wgmma(const Counting& c, const Stage& stage, const Mma& mma, StatementCount& count) {
  const MmaShape shape = mma.shape;
  const double instructions = instructions_of(product_of(c.program, mma), shape);
  const double element = element_size(c.program[mma.second].dtype).value();
  const bool shared_first = c.program[mma.first].space == Space::Shared;
  const auto rows = static_cast<double>(shared_first ? shape.m : 0);
  count.work.shared_read += Bytes(instructions * element * static_cast<double>(shape.k) *
                                  (rows + static_cast<double>(shape.n)));
  const int64_t groups = std::max<int64_t>(1, stage.warps / kWarpgroup);
  issue(count, instructions / static_cast<double>(groups) * kMatrix + kBatch, stage.warps);
}

/// MFMA reads registers: each wave first loads its blocks of both operands from LDS, as
/// code_counts.h says.
void count_mfma(const Counting& c, const Stage& stage, const Mma& mma, StatementCount& count) {
  const MmaAccess access = mma_access(c.program, mma);
  const auto lanes = static_cast<double>(warp_size(c.program.target));
  const auto waves = static_cast<double>(stage.warps);
  const double element = element_size(c.program[mma.second].dtype).value();
  const auto steps = static_cast<double>(access.steps);
  for (const MmaOperand& operand : {access.first, access.second}) {
    if (!operand.shared) {
      continue;
    }
    // Four elements a lane for each block and step: in runs of 4 or 8, or one by one across rows.
    const double elements = steps * static_cast<double>(operand.blocks) * 4;
    count.work.shared_read += Bytes(elements * element * lanes * waves);
    issue(count, elements / static_cast<double>(operand.contiguous ? access.run : 1), stage.warps);
  }
  issue(
      count, steps * static_cast<double>(access.first.blocks * access.second.blocks), stage.warps);
}

StatementCount count_mma(const Counting& c, const Stage& stage, const Mma& mma) {
  StatementCount count;
  const Product p = product_of(c.program, mma);
  count.work.tensor = Flops(2.0 * static_cast<double>(p.rows) * static_cast<double>(p.columns) *
                            static_cast<double>(p.depth));
  count.work.tensor_type = c.program[mma.first].dtype;
  if (c.program.target == Target::Sm90a) {
    count_wgmma(c, stage, mma, count);
  } else {
    count_mfma(c, stage, mma, count);
  }
  return count;
}

}  // namespace

StatementCount count_statement(const Counting& c, const Statement& statement) {
  const Stage& stage = c.program[statement.stage];
  if (const auto* load = std::get_if<Load>(&statement.op)) {
    return count_load(c, stage, *load);
  }
  if (const auto* store = std::get_if<Store>(&statement.op)) {
    return count_store(c, stage, *store);
  }
  if (const auto* map = std::get_if<Map>(&statement.op)) {
    return count_map(c, stage, *map);
  }
  if (const auto* reduce = std::get_if<Reduce>(&statement.op)) {
    return count_reduce(c, stage, *reduce);
  }
  return count_mma(c, stage, std::get<Mma>(statement.op));
}

StatementCount count_phase_overhead(const Counting& c, const Phase& phase) {
  StatementCount count;
  if (!phase.loop) {
    return count;
  }
  for (const Stage& stage : c.program.stages) {
    const bool producer = stage.kind == StageKind::Producer;
    issue(count, kLoop + kWait + kArrive, producer ? 1 : stage.warps);
  }
  // A hand-over between producer and consumers, or the barrier before a prefetched tile may be
  // read.
  count.chain.barriers = 1;
  return count;
}

}  // namespace orrery::kernel
