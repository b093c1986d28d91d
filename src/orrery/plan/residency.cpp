// Residency: from what a measuring loop, or a program, has touched before.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/plan/residency.h"

#include <algorithm>

namespace orrery::plan {
namespace {

// The unique bytes of a launch's operands by where they come from.
struct Operands {
  double scratch = 0;
  double recent = 0;
  double other = 0;
};

Operands operands_of(const kernel::Traffic& traffic) {
  Operands operands;
  operands.scratch = traffic.scratch_read.value();
  const double outside = std::max(0.0, traffic.unique_read.value() - operands.scratch);
  operands.recent = std::min(outside, traffic.recent_read.value());
  operands.other = outside - operands.recent;
  return operands;
}

}  // namespace

double Residency::bytes(const kernel::Traffic& traffic) const {
  const Operands operands = operands_of(traffic);
  return recent * operands.recent + other * operands.other + scratch * operands.scratch;
}

Residency residency(const kernel::Traffic& traffic,
                    const machine::L2& l2,
                    const Conditions& conditions) {
  const auto [scratch, recent, other] = operands_of(traffic);
  const double written = traffic.unique_write.value();
  const bool warm_activations = conditions.activations == CacheState::Warm;
  const bool warm_weights = conditions.weights == CacheState::Warm;
  const auto input_sets = static_cast<double>(std::max<int64_t>(1, conditions.input_sets));
  const auto output_sets = static_cast<double>(std::max<int64_t>(1, conditions.output_sets));

  // A cold operand streams through, and what is used once does not keep the rest out for long: only
  // warm bytes count. A result is written back even if it is soon overwritten in L2 (relu of 1000 x
  // 4096 into one buffer takes nearly as long as into many), unless all copies of everything fit.
  const double warm_recent = warm_activations ? recent : 0;
  const double warm = warm_recent + (warm_weights ? other : 0);
  const double kept = warm_activations ? written : 0;
  const double recent_sets =
      conditions.activation_sets > 0 ? static_cast<double>(conditions.activation_sets) : input_sets;
  const double touched = input_sets * (warm - warm_recent) + recent_sets * warm_recent;
  const double read_share = machine::resident_share(touched + output_sets * kept + scratch, l2);
  const double rewritten =
      output_sets < input_sets ? l2.rewritten * machine::resident_share(warm + kept, l2) : 0;
  Residency share;
  share.recent = warm_activations ? read_share : 0;
  share.other = warm_weights ? read_share : 0;
  share.scratch =
      scratch > 0 ? machine::resident_share(scratch + written + (recent + other) / 2, l2) : 0;
  if (warm_activations) {
    const double write_share = machine::resident_share(touched + recent_sets * kept, l2);
    share.kept = 1 - (1 - write_share) * (1 - rewritten);
  }
  return share;
}

}  // namespace orrery::plan
