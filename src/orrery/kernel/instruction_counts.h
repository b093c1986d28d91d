// Instruction counts: what the operations of an expression become on each target.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/dtype.h"
#include "orrery/kernel/expression.h"
#include "orrery/kernel/layout.h"
#include "orrery/kernel/program.h"

namespace orrery::kernel {

// Counted, not guessed: a kernel with one operation, compiled, disassembled, less the same kernel
// without it. So exp2 is one special-function instruction on sm_90a, a division a reciprocal and
// four others, erf 22. A multiply whose only user adds or subtracts is one instruction with it.

/// Lane operations that one element takes.
struct LaneCount {
  double instructions = 0;  // of all kinds
  double special = 0;       // of them, on the special-function unit

  LaneCount& operator+=(const LaneCount& other) {
    instructions += other.instructions;
    special += other.special;
    return *this;
  }

  LaneCount operator*(double times) const { return {instructions * times, special * times}; }

  bool operator==(const LaneCount&) const = default;
};

/// One operation; activations must have been expanded (activation.h). Leaves cost nothing here.
LaneCount operation_count(Target target, ExprOp op);

/// From a buffer's type to binary32, and back, per element.
double unpack_count(Target target, DType dtype);
double pack_count(Target target, DType dtype);

/// Elements that one memory access of a thread moves between registers laid out as `layout` and
/// `tensor`: a run of registers along the tensor's last axis, as long as alignment allows, at most
/// 16 bytes.
int64_t access_width(const Program& program, const FragmentLayout& layout, TensorId tensor);

/// Per thread: evaluating `value` once for each register of `layout`. An operand or a subexpression
/// that does not vary along an axis is computed once for all registers along it. Tensor operands
/// are loads, unpacking included.
LaneCount evaluation_count(const Program& program, const Expr& value, const FragmentLayout& layout);

/// Length of the longest chain of dependent instructions in one evaluation.
double evaluation_depth(const Program& program, const Expr& value);

}  // namespace orrery::kernel
