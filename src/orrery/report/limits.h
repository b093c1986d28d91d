// Limits: what a machine could do at most, and how near to it a kernel comes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/quantity.h"
#include "orrery/kernel/profile.h"
#include "orrery/library/call.h"
#include "orrery/machine/machine.h"
#include "orrery/plan/timing.h"

namespace orrery::report {

// The roofline of Williams, Waterman and Patterson (CACM 52/4, 2009): a kernel of F FLOP that moves
// B bytes through DRAM takes at least max(F / peak, B / bandwidth). F is the call's own arithmetic
// (library/call_flops.h), without the padding of tiles, dealt to its kernels by what their pipes
// do; of a call without such a count it is what the pipes do. B is every operand and result once,
// at most what the prediction moves through DRAM: what it has in L2 needs none of that bandwidth.
// All operands and results pass through L2 once, at the bandwidth that it achieves. Clock and
// DRAM's bandwidth are the specification's, so a share of 100 % is hardly reached; where a machine
// file's rates exceed the data sheet's, the least time of a call is cut at the predicted one.
//
// Worked example: bf16 GEMM of 4096^3 on an H200: 137 GFLOP at 989 TFLOP/s are 139 us, 101 MB at
// 4.8 TB/s are 21 us: at least 139 us; in 190 us it reaches 73 %.

struct Limits {
  BytesPerSecond dram;
  BytesPerSecond l2;  // achieved, at the highest clock
  BytesPerSecond link;
  FlopsPerSecond vector;                                 // fp32 fused multiply-adds
  std::vector<std::pair<DType, FlopsPerSecond>> tensor;  // by element type
};

Limits limits_of(const machine::Chip& chip);

/// What a kernel does and moves.
struct Work {
  Flops flops;               // of the call's arithmetic
  Flops tensor;              // of the matrix pipes, padding of tiles included
  DType type = DType::BF16;  // of most of it
  Flops vector;              // two per fused multiply-add
  Bytes dram;
  Bytes l2;  // every operand and result once
  Bytes link;

  Flops issued() const { return tensor + vector; }
};

/// A kernel alone, with nothing in L2.
Work work_of(const kernel::Profile& profile);

/// The kernels of a call in order, as it was timed.
std::vector<Work> works_of(const library::Call& call, const plan::StepTime& step);

/// The least time of the work.
Duration least_time(const Work& work, const Limits& limits);

/// The least time of a call's kernels, one after the other.
Duration least_time(const library::Call& call, const plan::StepTime& step, const Limits& limits);

}  // namespace orrery::report
