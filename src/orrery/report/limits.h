// Limits: what a machine could do at most, and how near to it a kernel comes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/quantity.h"
#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"

namespace orrery::report {

// The roofline of Williams, Waterman and Patterson (CACM 52/4, 2009): a kernel of F FLOP that moves
// B bytes through DRAM takes at least max(F / peak, B / bandwidth). F is what the matrix pipes do
// (padding of tiles included) and two per fused multiply-add; B is every operand and result once,
// without operands that the kernel before has just written, which may be in L2. Clock and bandwidth
// are the specification's, so a share of 100 % is never reached.
//
// Worked example: bf16 GEMM of 4096^3 on an H200: 137 GFLOP at 989 TFLOP/s are 139 us, 101 MB at
// 4.8 TB/s are 21 us: at least 139 us; in 190 us it reaches 73 %.

struct Limits {
  BytesPerSecond dram;
  BytesPerSecond link;
  FlopsPerSecond vector;                                 // fp32 fused multiply-adds
  std::vector<std::pair<DType, FlopsPerSecond>> tensor;  // by element type
};

Limits limits_of(const machine::Chip& chip);

/// What a kernel does and moves.
struct Work {
  Flops tensor;
  DType type = DType::BF16;  // of most of it
  Flops vector;
  Bytes dram;
  Bytes link;

  Flops flops() const { return tensor + vector; }
};

Work work_of(const kernel::Profile& profile);

/// The least time of the work.
Duration least_time(const Work& work, const Limits& limits);

/// The least time of kernels that run one after the other.
Duration least_time(const std::vector<kernel::Profile>& kernels, const Limits& limits);

}  // namespace orrery::report
