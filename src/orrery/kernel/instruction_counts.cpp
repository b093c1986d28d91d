// Instruction counts: the table per target, and counting an expression over a fragment's registers.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/instruction_counts.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "orrery/base/check.h"
#include "orrery/kernel/activation.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kAccessBytes = 16;  // widest access of a thread, both targets
constexpr double kAddressCount = 2;   // multiply-add and bounds test of an access

struct Row {
  ExprOp op;
  LaneCount sm90a;
  LaneCount gfx942;
};

// sm_90a: nvcc 13.0 -arch=sm_90a, nvdisasm 13.5 of kernels that differ in one operation, with the
// spellings of the CUDA emitter (__fdividef, ex2.approx.ftz, rsqrtf ...); the slow path of sqrt,
// taken for denormals only, left out; tanh is the sum of its steps. gfx942: clang 19 -O3
// --offload-arch=gfx942 of the same kind, one-operand rows counted over 16 independent elements
// with the HIP emitter's spellings (clang packs some of their multiply-adds in pairs, which
// count half); add, mul, max as one instruction, a division as reciprocal and multiply.
constexpr std::array kRows = {
    Row{ExprOp::Neg, {1, 0}, {1, 0}},
    Row{ExprOp::Abs, {1, 0}, {1, 0}},
    Row{ExprOp::Exp, {2, 1}, {2, 1}},
    Row{ExprOp::Exp2, {1, 1}, {1, 1}},
    Row{ExprOp::Log2, {4, 1}, {1, 1}},
    Row{ExprOp::Sqrt, {9, 1}, {1, 1}},
    Row{ExprOp::Rsqrt, {4, 1}, {1, 1}},
    Row{ExprOp::Reciprocal, {5, 1}, {1, 1}},
    Row{ExprOp::Tanh, {10, 2}, {5.5, 2}},
    Row{ExprOp::Erf, {22, 1}, {9, 2}},
    Row{ExprOp::Add, {1, 0}, {1, 0}},
    Row{ExprOp::Sub, {1, 0}, {1, 0}},
    Row{ExprOp::Mul, {1, 0}, {1, 0}},
    Row{ExprOp::Div, {5, 1}, {2, 1}},
    Row{ExprOp::Max, {1, 0}, {1, 0}},
    Row{ExprOp::Min, {1, 0}, {1, 0}},
    Row{ExprOp::Inside, {2, 0}, {2, 0}},
};

/// The axes along which a node's value varies, as bits.
using AxisSet = uint64_t;

AxisSet set_of(const std::vector<AxisId>& axes) {
  AxisSet set = 0;
  for (const AxisId axis : axes) {
    set |= AxisSet{1} << axis.index();
  }
  return set;
}

/// Different registers along the axes of `set`.
double registers_along(const FragmentLayout& layout, AxisSet set) {
  double count = 1;
  for (const Digit& digit : layout.digits) {
    if (digit.place == Place::Register && digit.axis &&
        (set & (AxisSet{1} << digit.axis->index())) != 0) {
      count *= static_cast<double>(digit.extent);
    }
  }
  return count;
}

struct NodeFacts {
  AxisSet axes = 0;
  int users = 0;
};

std::vector<NodeFacts> facts_of(const Program& program, const Expr& value) {
  std::vector<NodeFacts> facts(value.nodes.size());
  for (size_t i = 0; i < value.nodes.size(); ++i) {
    const ExprNode& node = value.nodes[i];
    const int operands = arity(node.op);
    if (operands >= 1) {
      facts[i].axes |= facts[node.first].axes;
      ++facts[node.first].users;
    }
    if (operands >= 2) {
      facts[i].axes |= facts[node.second].axes;
      ++facts[node.second].users;
    }
    if (node.op == ExprOp::Buffer) {
      facts[i].axes = set_of(program[node.buffer].axes);
    } else if (node.op == ExprOp::Tensor) {
      facts[i].axes = set_of(program[node.tensor].axes);
    } else if (node.op == ExprOp::Inside) {
      facts[i].axes |= AxisSet{1} << node.axis.index();
    }
  }
  return facts;
}

/// Is multiply `at` absorbed by its only user, an addition or subtraction evaluated as often?
bool fused(const Expr& value, const std::vector<NodeFacts>& facts, size_t at) {
  if (value.nodes[at].op != ExprOp::Mul || facts[at].users != 1) {
    return false;
  }
  for (size_t i = at + 1; i < value.nodes.size(); ++i) {
    const ExprNode& node = value.nodes[i];
    const bool sums = node.op == ExprOp::Add || node.op == ExprOp::Sub;
    if (sums && (node.first == at || node.second == at)) {
      // x * y + z * w: one of the two multiplies is fused, the other one stays.
      const bool second = node.second == at && node.first != at;
      const ExprNode& other = value.nodes[node.first];
      const bool taken = second && other.op == ExprOp::Mul && facts[node.first].users == 1;
      return !taken && facts[at].axes == facts[i].axes;
    }
  }
  return false;
}

LaneCount load_count(const Program& program, const FragmentLayout& layout, TensorId tensor) {
  const Tensor& t = program[tensor];
  const double elements = registers_along(layout, set_of(t.axes));
  const auto width = static_cast<double>(access_width(program, layout, tensor));
  const double accesses = elements / std::min(elements, width);
  return {accesses * (1 + kAddressCount) + elements * unpack_count(program.target, t.dtype), 0};
}

bool has_activation(const Expr& value) {
  return std::any_of(value.nodes.begin(), value.nodes.end(), [](const ExprNode& node) {
    return node.op >= ExprOp::Sigmoid && node.op <= ExprOp::GeluTanh;
  });
}

LaneCount count_expanded(const Program& program, const Expr& value, const FragmentLayout& layout) {
  const std::vector<NodeFacts> facts = facts_of(program, value);
  LaneCount total;
  for (size_t i = 0; i < value.nodes.size(); ++i) {
    const ExprNode& node = value.nodes[i];
    const double times = registers_along(layout, facts[i].axes);
    if (node.op == ExprOp::Buffer) {
      total.instructions += times * unpack_count(program.target, program[node.buffer].dtype);
    } else if (node.op == ExprOp::Tensor) {
      total += load_count(program, layout, node.tensor);
    } else if (!fused(value, facts, i)) {
      total += operation_count(program.target, node.op) * times;
    }
  }
  return total;
}

}  // namespace

LaneCount operation_count(Target target, ExprOp op) {
  for (const Row& row : kRows) {
    if (row.op == op) {
      return target == Target::Sm90a ? row.sm90a : row.gfx942;
    }
  }
  return {};
}

double unpack_count(Target /*target*/, DType dtype) {
  // A shift or a permute each; binary32 needs none.
  return element_size(dtype) < Bytes(4) ? 1 : 0;
}

double pack_count(Target target, DType dtype) {
  if (element_size(dtype) >= Bytes(4)) {
    return 0;
  }
  if (target == Target::Sm90a) {
    return 0.5;  // F2FP packs two
  }
  // gfx942 converts f16 in one instruction; bf16 is rounded by hand (bit extract, add, carry,
  // permute).
  return dtype == DType::F16 ? 1.5 : 4.5;
}

int64_t access_width(const Program& program, const FragmentLayout& layout, TensorId tensor) {
  const Tensor& t = program[tensor];
  if (t.axes.empty()) {
    return 1;
  }
  const AxisId inner = t.axes.back();
  int64_t run = 1;
  for (const Digit& digit : layout.digits) {
    if (digit.place != Place::Register || digit.axis != inner || digit.stride != run) {
      break;
    }
    run *= digit.extent;
  }
  const Axis& axis = program[inner];
  const int64_t aligned = axis.extent.symbol.empty() ? axis.extent.fixed : axis.multiple;
  const auto limit =
      static_cast<int64_t>(static_cast<double>(kAccessBytes) / element_size(t.dtype).value());
  return std::gcd(std::gcd(run, aligned), limit);
}

LaneCount evaluation_count(const Program& program,
                           const Expr& value,
                           const FragmentLayout& layout) {
  return has_activation(value) ? count_expanded(program, expand_activations(value), layout)
                               : count_expanded(program, value, layout);
}

double evaluation_depth(const Program& program, const Expr& value) {
  const Expr expanded = has_activation(value) ? expand_activations(value) : value;
  std::vector<double> depth(expanded.nodes.size(), 0);
  for (size_t i = 0; i < expanded.nodes.size(); ++i) {
    const ExprNode& node = expanded.nodes[i];
    const int operands = arity(node.op);
    if (operands >= 1) {
      depth[i] = depth[node.first];
    }
    if (operands >= 2) {
      depth[i] = std::max(depth[i], depth[node.second]);
    }
    depth[i] += operation_count(program.target, node.op).instructions;
  }
  return depth.back();
}

}  // namespace orrery::kernel
