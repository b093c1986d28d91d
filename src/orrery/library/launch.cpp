// Launches: steps of a block as a profile's phases.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/counts.h"

namespace orrery::library {

kernel::ProfilePhase phase(const Step& step, const machine::Chip& chip) {
  const double slots = step.warps * step.slots;
  const double own = step.in_step ? slots / static_cast<double>(chip.core.schedulers) : 0;
  kernel::ProfilePhase phase;
  phase.name = step.name;
  phase.trips = step.trips;
  phase.work.issue = Instructions(slots);
  phase.work.l2_read = Bytes(step.l2_read);
  phase.work.l2_write = Bytes(step.l2_write);
  phase.chain.memory = step.memory;
  phase.chain.shared = step.shared;
  phase.chain.barriers = step.barriers;
  phase.chain.instructions = step.instructions;
  phase.chain.fixed = Cycles(step.fixed + own);
  return phase;
}

kernel::Profile profile_of(Launch launch, const machine::Chip& chip) {
  const Moved& moved = launch.moved;
  kernel::Profile profile;
  profile.kernel = std::move(launch.kernel);
  profile.family = launch.family;
  profile.threads = launch.threads;
  profile.ctas_per_sm = occupancy(chip.core, launch.threads, launch.registers, launch.shared);
  set_units(profile, {{std::max(1.0, std::ceil(launch.blocks)), std::move(launch.phases)}});
  profile.traffic = streamed(moved.read + moved.scratch, moved.write);
  profile.traffic.recent_read = Bytes(moved.read);
  profile.traffic.scratch_read = Bytes(moved.scratch);
  profile.traffic.dram_read = Bytes(moved.read + moved.scratch + moved.reread);
  if (moved.kept && moved.write < chip.l2.effective.value()) {
    profile.traffic.dram_write = Bytes(0.0);
  }
  profile.behaviour.overlap = launch.overlap;
  profile.behaviour.dram_share = launch.dram_share;
  profile.behaviour.restart = Cycles(launch.restart);
  profile.behaviour.relative_error = launch.error;
  return profile;
}

kernel::Profile small_node(std::string_view kernel, const Launch& like, const machine::Chip& chip) {
  return profile_of({.kernel = std::string(kernel),
                     .family = like.family,
                     .phases = {phase({.name = "set", .slots = 40}, chip)},
                     .error = like.error},
                    chip);
}

kernel::Profile copy_node(const Moved& moved, const Launch& like, const machine::Chip& chip) {
  constexpr double kPiece = 2048;  // bytes; a memcpy node shows no geometry: as a pointwise kernel
  return profile_of({.kernel = "memcpy",
                     .family = like.family,
                     .blocks = moved.write / kPiece,
                     .phases = {phase({.name = "copy",
                                       .warps = 4,
                                       .slots = 32,
                                       .l2_read = kPiece,
                                       .l2_write = kPiece,
                                       .memory = 1},
                                      chip)},
                     .moved = moved,
                     .overlap = chip.overlap.streaming,
                     .error = like.error},
                    chip);
}

Result<void> check_value_size(const RowsCall& call, std::string_view rule) {
  if (call.dtype == DType::BF16 || call.dtype == DType::F16 || call.dtype == DType::F32) {
    return {};
  }
  return make_error(ErrorCode::Unsupported,
                    "[library.{}] {}: got dtype {}, need one of bf16, fp16, fp32",
                    rule,
                    call.op,
                    name(call.dtype));
}

}  // namespace orrery::library
