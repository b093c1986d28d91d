// Limits of programs: the table of instruction sets, and which words are names.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/limits.h"

#include <algorithm>
#include <array>

#include "orrery/base/check.h"

namespace orrery::kernel {
namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", column 9.0;
// clusters of 8 are the portable limit (same guide, "Thread Block Clusters"); setmaxnreg acts on
// warpgroups (PTX ISA, setmaxnreg).
constexpr TargetLimits kSm90a = {
    .warp_size = 32,
    .threads_per_cta = 1024,
    .registers_per_thread = 255,
    .registers_per_core = 65536,
    .shared_per_cta = 232448,
    .largest_cluster = 8,
    .warpgroup = 4,
};

// AMD Instinct MI300 (CDNA3) ISA, "Kernel State": 512 vector registers a lane (256 of them
// accumulation registers), 4 SIMDs of 512 x 64 registers in a compute unit, 64 KiB of LDS a
// work-group, 1024 work-items; no clusters.
constexpr TargetLimits kGfx942 = {
    .warp_size = 64,
    .threads_per_cta = 1024,
    .registers_per_thread = 512,
    .registers_per_core = 131072,
    .shared_per_cta = 65536,
    .largest_cluster = 1,
    .warpgroup = 1,
};

// Words that a statement, a raster line or an expression could not tell from a name.
constexpr std::array<std::string_view, 7> kReserved = {
    "once", "loop", "group", "via", "inf", "nan", "_"};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

const TargetLimits& target_limits(Target target) {
  switch (target) {
    case Target::Sm90a:
      return kSm90a;
    case Target::Gfx942:
      return kGfx942;
  }
  ORR_UNREACHABLE();
}

bool is_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameLength || !is_letter(name.front())) return false;
  if (!std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); })) return false;
  return std::ranges::find(kReserved, name) == kReserved.end();
}

}  // namespace orrery::kernel
