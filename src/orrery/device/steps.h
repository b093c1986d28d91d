// Steps: the phases of a profile as an SM performs them, in clocks of its pipes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"

namespace orrery::device {

/// The resources of one SM that work side by side.
enum class Pipe { Issue, Fma, Integer, Special, Shared, Tensor };
inline constexpr size_t kPipes = 6;
std::string_view name(Pipe pipe);

/// A phase: `trips` equal trips of one group of warps.
struct Step {
  std::array<double, kPipes> busy = {};  // clocks of each pipe, a trip
  double read = 0;                       // bytes through the SM's port to L2, a trip
  double write = 0;
  double fill = 0;   // clocks of shared memory that a ring's load takes when it arrives, a trip
  double waits = 0;  // dependent global accesses: of a trip, or of the first one with a ring
  double turn = 0;   // clocks from operands to product, where one group loads and multiplies
  double chain = 0;  // clocks of what else must happen one after the other in a trip
  double trips = 1;  // the last may be a part of one
  int64_t ring = 1;  // ring - 1 trips are loaded ahead
  bool in_turn = false;
  bool walks = false;  // its trips step along the operands' tiles (kernel/traversal.h)
  double energy = 1;   // of its products, relative to bf16's
  const kernel::ProfilePhase* phase = nullptr;
};

/// A launch as the device performs it: groups of warps that proceed on their own, each with its
/// share of a CTA's work. Ping-pong CTAs have two, CTAs of independent warps as many as
/// Behaviour::streams.
struct Steps {
  std::vector<std::vector<Step>> kinds;  // phases of each kind of unit
  std::vector<double> counts;            // units of each kind in one round
  double rounds = 1;
  int64_t units = 0;          // of all kinds and rounds, one to a group
  int64_t groups = 0;         // launched
  int64_t groups_per_sm = 1;  // resident at once
  int64_t sms = 1;            // in use
  int64_t max_ring = 1;
  bool persistent = false;  // groups take units until none is left
};

/// Points into `profile`, which must live as long.
Steps steps_of(const kernel::Profile& profile, const machine::Chip& chip);

}  // namespace orrery::device
