// Kernels written in Triton by others: machine-code counts from a library file, and their profiles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "orrery/kernel/profile.h"
#include "orrery/library/launch.h"
#include "orrery/machine/machine.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

// The kernels of recurrent layers load a few tiles, multiply, store and end. What a warp of them
// executes is known by compiling the same operations: instructions once a program and per trip of
// its loop, registers, shared memory. Of the schedulers an instruction takes `slots` (some go to
// pipes that are half as wide); a warp alone needs `alone` clocks for one, dependences included:
//
//     chunk_fwd_kernel_o, 4 warps, 1097 instructions, slots 1.3, alone 2:
//     4 * 1097 * 1.3 / 4 = 1426 clk of the schedulers; alone 2194 clk and the latency of its loads
//
// All programs of a launch do the same at about the same time, so their work overlaps little with
// what they move: the exponent `overlap` (cost/overlap.h).

/// What a program of a kernel is made of.
struct TritonCode {
  int64_t warps = 4;
  int64_t registers = 0;  // of a thread
  double shared = 0;      // bytes
  double once = 0;        // instructions of a warp outside its loop
  double trip = 0;        // and per trip
};

/// A list of a library file: "name warps registers shared once trip" for machines with wgmma
/// (sm_90) and, after a bar, for the others (left out: the same).
class TritonTable {
 public:
  TritonTable() = default;
  /// Reads `section`.kernels, and .alone, .slots, .overlap, .tensor_share and .error.
  TritonTable(machine::NumberFile& file,
              const std::string& section,
              std::initializer_list<std::string_view> needed);

  const TritonCode& of(std::string_view name, const machine::Chip& chip) const;

  double alone() const { return alone_; }

  double slots() const { return slots_; }

  double overlap() const { return overlap_; }

  double tensor_share() const { return tensor_share_; }

  double error() const { return error_; }

 private:
  struct Row {
    TritonCode wgmma;
    TritonCode other;
  };

  std::map<std::string, Row, std::less<>> rows_;
  double alone_ = 1;
  double slots_ = 1;
  double overlap_ = 1;
  double tensor_share_ = 1;
  double error_ = 0;
};

/// A launch of such a kernel; flops and bytes are those of one program and trip.
struct TritonLaunch {
  std::string_view code;    // in the table
  std::string_view kernel;  // as a profiler shows it
  double programs = 1;
  double trips = 1;
  double flops = 0;
  double l2_read = 0;
  double l2_write = 0;
  double waits = 1;        // dependent global accesses of a trip
  double first_waits = 0;  // and before the first
  double size = 1;         // of the tiles, relative to those whose instructions were counted
  bool fp32 = false;       // products of fp32 operands, as tf32
  bool apart = false;      // one load, one store, many small programs: they overlap by themselves
  Moved moved = {};
};

kernel::Profile triton_profile(const TritonLaunch& launch,
                               const TritonTable& table,
                               const machine::Chip& chip);

}  // namespace orrery::library
