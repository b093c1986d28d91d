// splitKreduce_kernel: counts.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/split_sum.h"

#include "orrery/library/counts.h"

namespace orrery::library {

SplitSum read_split_sum(machine::NumberFile& file) {
  return {.fixed = duration(file, "split_sum.fixed"), .trip = cycles(file, "split_sum.trip")};
}

kernel::Profile split_sum_profile(
    const GemmCall& call, int64_t slices, double partial, double out, const SplitSum& sum) {
  constexpr double kBlock = 512;
  constexpr double kWarp = 32;
  constexpr double kInstructions = 12;  // of a warp and slice: load, convert, add, address
  kernel::Profile profile;
  profile.kernel = "splitKreduce_kernel";
  profile.family = "gemm";
  profile.threads = static_cast<int64_t>(kBlock);
  profile.ctas_per_sm = 4;
  kernel::ProfilePhase phase;
  phase.name = "sum";
  phase.trips = static_cast<double>(slices);
  phase.chain.fixed = Cycles(sum.trip);
  phase.work.issue = Instructions(kInstructions * kBlock / kWarp);
  phase.work.l2_read = Bytes(kBlock * partial);
  const double blocks = product(call.batch, ceil_div(call.n, 32), ceil_div(call.m, 16));
  set_units(profile, {{blocks, {phase}}});
  const double elements = product(call.batch, call.m, call.n);
  profile.traffic = streamed(elements * partial * static_cast<double>(slices), elements * out);
  profile.traffic.dram_read = Bytes(0.0);
  profile.fixed = sum.fixed;
  return profile;
}

}  // namespace orrery::library
