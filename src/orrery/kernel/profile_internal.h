// Shared by the parts of profile derivation: the program with its extents resolved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/kernel/geometry.h"
#include "orrery/kernel/occupancy.h"
#include "orrery/kernel/profile.h"
#include "orrery/kernel/program.h"
#include "orrery/machine/machine.h"

namespace orrery::kernel {

// profile.cpp            puts the profile together: kinds of units, phases
// profile_statement.cpp  the work and the chain of one statement
// profile_memory.cpp     bytes of tiles in sectors, multicast, traffic of the launch
// profile_traversal.cpp  the order of tiles
// profile_registers.cpp  registers a thread needs, hence occupancy

/// A program for given extents on a chip.
struct Counting {
  const Program& program;
  const machine::Chip& chip;
  UnitMap map;
  std::vector<int64_t> extents;  // per axis
  std::vector<int64_t> tiles;    // per axis; of a cluster's axis after rounding
  int64_t resident = 1;          // CTAs on the chip at once
};

/// What one statement (or phase) adds to a trip of one CTA.
struct StatementCount {
  PipeWork work;
  Chain chain;
  double issue_per_warp = 0;  // instructions of the busiest warp, which run one after the other
};

StatementCount count_statement(const Counting& counting, const Statement& statement);

/// The cost of waiting for rings and of the loop itself, per trip.
StatementCount count_phase_overhead(const Counting& counting, const Phase& phase);

/// Bytes, in whole sectors, of one tile of `tensor`: the mean over all tiles, partial ones
/// included.
Bytes tile_sectors(const Counting& counting, TensorId tensor);

/// Totals of the launch; `kinds` have been counted.
Traffic count_traffic(const Counting& counting, const std::vector<UnitKind>& kinds);

/// Which tiles its main loop reads, in the order of the grid; empty for a program without a loop.
Traversal count_traversal(const Counting& counting);

/// Registers of all threads of a CTA, as allocated at launch.
int64_t registers_of_cta(const Counting& counting, int64_t threads);

/// Registers that the live fragments of a stage occupy in a thread, at most at any statement.
int64_t live_registers(const Program& program, StageId stage);

/// Static counts of the machine code (profile.h, CodeCounts).
CodeCounts count_code(const Counting& counting);

}  // namespace orrery::kernel
