// Warp counts: what a warp of a kernel executes, as hardware counters and machine code say.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"
#include "orrery/kernel/profile.h"
#include "orrery/library/call.h"
#include "orrery/machine/machine.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

/// Of one warp: instructions of all kinds, of these on the integer and logic lanes and on the
/// special-function lanes, and dependent clocks that no other warp of the CTA shortens.
struct WarpCounts {
  double issue = 0;
  double integer = 0;
  double special = 0;
  double chain = 0;
};

WarpCounts operator+(const WarpCounts& a, const WarpCounts& b);
WarpCounts operator*(double times, const WarpCounts& counts);

/// The pipe work of `warps` such warps; their chain is the caller's.
kernel::PipeWork work_of(const WarpCounts& counts, double warps);

/// A list of a library file: per kernel or part of one "name issue integer special chain" for
/// elements of 2 bytes and, after a bar, of 4 bytes (left out: the same).
class CountTable {
 public:
  CountTable() = default;
  /// Mistakes are remembered by `file`; `needed` have to be there.
  CountTable(machine::NumberFile& file,
             std::string_view key,
             std::initializer_list<std::string_view> needed);

  /// Zero for a name that is not there: ask only for what was needed, or after `has`. The type does
  /// not matter where the list has no bars.
  WarpCounts of(std::string_view name, DType dtype = DType::BF16) const;

  bool has(std::string_view name) const { return rows_.find(name) != rows_.end(); }

 private:
  struct Row {
    WarpCounts narrow;
    WarpCounts wide;
  };

  std::map<std::string, Row, std::less<>> rows_;
};

/// Error Unsupported unless the call's elements are of a type that these kernels compute in.
Result<void> floating_point(const RowsCall& call);

/// What a CTA takes of its SM.
struct Block {
  int64_t threads = 0;
  int64_t registers = 0;  // of a thread
  double shared = 0;      // bytes
};

/// A kernel of CTAs that wait for their own loads (cost/residents.h). Units and traffic are the
/// caller's.
kernel::Profile resident_kernel(std::string_view kernel,
                                std::string_view family,
                                const machine::Chip& chip,
                                const Block& block);

}  // namespace orrery::library
