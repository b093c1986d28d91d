// Limits of programs: what the text form holds, and what each instruction set allows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orrery/kernel/program.h"

namespace orrery::kernel {

// The parser refuses larger programs, so that no text makes it slow or large; the verifier does
// too, so that what it accepts can be printed and read back. All are far above any kernel we know.
inline constexpr size_t kMaxTextBytes = size_t{1} << 20;
inline constexpr size_t kMaxNameLength = 64;
inline constexpr size_t kMaxAxes = 64;
inline constexpr size_t kMaxTensors = 64;
inline constexpr size_t kMaxStages = 16;
inline constexpr size_t kMaxBuffers = 256;
inline constexpr size_t kMaxRank = 8;     // axes of one tensor or buffer
inline constexpr size_t kMaxDigits = 64;  // of one fragment layout
inline constexpr size_t kMaxPhases = 64;
inline constexpr size_t kMaxStatements = 1024;  // of all phases
inline constexpr size_t kMaxNodes = 256;        // of one expression; also how deep parentheses nest
inline constexpr int64_t kMaxTile = int64_t{1} << 20;  // also of panels, pads, digits, strides
inline constexpr int64_t kMaxExtent = int64_t{1} << 40;
inline constexpr int64_t kMaxRing = 64;
inline constexpr int64_t kMaxWarps = 32;
inline constexpr int64_t kMaxRegisters = 512;
inline constexpr int64_t kMaxTileElements = int64_t{1} << 28;  // of one buffer, its ring included

/// What programs for a target must respect. These are facts of the instruction set (compute
/// capability, ISA), the same for every chip that has it; what differs between chips stands in
/// machine files.
struct TargetLimits {
  int64_t warp_size = 0;
  int64_t threads_per_cta = 0;
  int64_t registers_per_thread = 0;
  int64_t registers_per_core = 0;  // 32-bit registers of an SM or CU
  int64_t shared_per_cta = 0;      // bytes
  int64_t largest_cluster = 1;
  int64_t warpgroup = 1;  // warps that change their register budget together
};

const TargetLimits& target_limits(Target target);

/// May `name` name a kernel, axis, tensor, stage or buffer: [A-Za-z_][A-Za-z0-9_]*, not too long,
/// not a word that would be ambiguous in the text form (once loop group via inf nan _)?
bool is_name(std::string_view name);

}  // namespace orrery::kernel
