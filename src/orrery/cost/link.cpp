// Links: bytes over rate, and dependent messages.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/link.h"

namespace orrery::cost {

double link_seconds(const kernel::LinkWork& work, const machine::Link& link) {
  const double rate = link.achieved.value() * work.share;
  return work.sent.value() > 0 && rate > 0 ? work.sent.value() / rate : 0;
}

double hop_seconds(const kernel::LinkWork& work) {
  return work.hops * work.hop.seconds().value();
}

}  // namespace orrery::cost
