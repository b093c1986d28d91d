// Row norms: what a library file says of them, and the rules by kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "orrery/library/call.h"
#include "orrery/library/warp_counts.h"

namespace orrery::library {

/// Dependent clocks by part of a kernel.
using Chains = std::map<std::string, double, std::less<>>;

struct NormTable {
  CountTable counts;
  Chains chain;
  double error = 0;
};

// A block that walks a row: trips of `lanes` elements in all, in whole warps.
struct Walk {
  double cols = 0;
  double each = 4;  // elements of a thread in a trip
  double threads = 128;
  double trips() const;       // of the block
  double warp_trips() const;  // summed over its warps
  double busy_warps() const;  // that have elements at all
};

/// The kernels of a call, in order.
std::vector<kernel::Profile> layer_norm_forward(const RowsCall& call,
                                                const NormTable& table,
                                                const machine::Chip& chip);
std::vector<kernel::Profile> layer_norm_backward(const RowsCall& call,
                                                 const NormTable& table,
                                                 const machine::Chip& chip);
std::vector<kernel::Profile> group_norm(const RowsCall& call,
                                        const NormTable& table,
                                        const machine::Chip& chip);
std::vector<kernel::Profile> batch_norm(const RowsCall& call,
                                        const NormTable& table,
                                        const machine::Chip& chip);

/// Rows that all SMs work on at once, in bytes: what a second pass has to find in a cache.
struct InFlight {
  double chip = 0;         // all SMs
  bool beyond_l1 = false;  // a second walk does not find its row in L1
  double lost = 0;         // share of it that has left L2 too
};

InFlight in_flight(const kernel::Profile& profile,
                   double rows,
                   double row_bytes,
                   const machine::Chip& chip);

}  // namespace orrery::library
