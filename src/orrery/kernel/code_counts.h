// How gfx942 code touches LDS and issues matrix instructions: one rule for emitter and profile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/kernel/profile.h"
#include "orrery/kernel/program.h"

namespace orrery::kernel {

// The rule. Counts are of the program text, each loop body once, per wave; a statement that stands
// in the text once is counted once however often it runs. Loops over registers are unrolled.
//
//   load into LDS     every thread writes `per_thread` vectors of up to 16 bytes; in a loop with a
//                     ring the text stands twice: filling the ring, and prefetching in the loop
//   mma               blocks of rows x blocks of columns x steps instructions; each step reads
//                     every block of a shared operand once (see MmaAccess)
//   reduce            lanes: permutations inside 16 lanes cost nothing here, wider exchanges are
//                     one ds_bpermute each; warps: one LDS write and the reads of all partial
//                     results, per register of the result
//
// LDS bytes are those of shared_plan. On sm_90a this rule promises the shared bytes only.

/// A tile on its way into shared memory: `vectors` accesses of `width` elements, spread over the
/// threads of the stage.
struct SharedCopy {
  int64_t width = 1;
  int64_t columns = 1;     // elements of a row (the last axis)
  int64_t pitch = 1;       // elements from row to row
  int64_t vectors = 1;     // of the tile
  int64_t per_thread = 1;  // rounded up
};

SharedCopy shared_copy(const Program& program, BufferId to, int64_t threads);

/// One operand of a matrix product.
struct MmaOperand {
  bool shared = false;      // in LDS, else in registers
  bool contiguous = false;  // shared: the contracted axis is innermost, so a lane reads runs of it
  int64_t blocks = 1;       // of the instruction's rows (columns) that one wave covers
};

/// One product, as a wave executes it. A lane holds 4 neighbours of the contracted axis for one
/// instruction. If both operands lie in LDS along that axis and their rows start at 16-byte
/// boundaries, it reads 8 at once for two instructions, each taking its half of every run: the
/// order of the contraction is free as long as both operands agree.
struct MmaAccess {
  MmaOperand first;
  MmaOperand second;
  AxisId contracted;
  int64_t row_warps = 1;
  int64_t column_warps = 1;
  int64_t steps = 1;  // instructions along the contracted axis
  int64_t run = 4;    // 4 or 8
};

MmaAccess mma_access(const Program& program, const Mma& mma);

/// A reduction over a fragment's registers, lanes and warps.
struct ReduceAccess {
  BufferId domain;      // the operand whose registers are walked: the one with most axes
  int64_t results = 1;  // registers of the result
  std::vector<int64_t> permuted_masks;   // lane ^ mask, by permutation within 16 lanes
  std::vector<int64_t> exchanged_masks;  // lane ^ mask, through the LDS crossbar
  int64_t warps = 1;                     // partial results per element after that
  int64_t scratch_width = 1;             // of them read at once
};

ReduceAccess reduce_access(const Program& program, const Reduce& reduce);

CodeCounts code_counts(const Program& program);

}  // namespace orrery::kernel
