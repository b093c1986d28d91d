// How deep a ring of tiles may be on a chip.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/kernel/family/ring_depth_internal.h"
#include "orrery/kernel/geometry.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kBarriers = 4 * 8;  // full and empty of up to two ring groups, per entry

/// Bytes of one more entry in every ring that loads of a loop fill.
int64_t entry_bytes(const Program& program) {
  int64_t bytes = kBarriers;
  for (const Phase& phase : program.phases) {
    for (const Statement& statement : phase.body) {
      const auto* load = std::get_if<Load>(&statement.op);
      if (phase.loop && load != nullptr && program[load->to].space == Space::Shared) {
        bytes += shared_bytes(program, program[load->to]);
      }
    }
  }
  return bytes;
}

}  // namespace

int64_t deepest_ring(const Program& program,
                     const machine::Chip& chip,
                     int64_t ctas_per_sm,
                     int64_t most) {
  const Bytes share = std::min(chip.core.shared_per_cta,
                               chip.core.shared_capacity / ctas_per_sm - chip.core.shared_reserved);
  const int64_t room = static_cast<int64_t>(share.value()) - shared_plan(program).total;
  return room < 0 ? 0 : std::min(most, 2 + room / entry_bytes(program));
}

}  // namespace orrery::kernel
