// The decode-attention family: which configurations do not exist and why; which are worth timing.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "orrery/kernel/family/decode_attention_internal.h"
#include "orrery/kernel/family/reasons_internal.h"
#include "orrery/kernel/family/ring_depth_internal.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kMaxParts = 512;
constexpr int64_t kMaxRing = 8;

void check_hopper(const DecodeConfig& c, Reasons& reasons) {
  reasons.unless(c.group == 64,
                 [&] { return fmt::format("group: got {}, need 64 (rows of wgmma)", c.group); });
  reasons.unless(c.head_dim % 64 == 0 && c.head_dim <= 256, [&] {
    return fmt::format("head dim: got {}, need 64, 128, 192 or 256", c.head_dim);
  });
  reasons.unless(c.tile_s % 16 == 0 && c.tile_s <= 256, [&] {
    return fmt::format("tile s: got {}, need a multiple of 16 up to 256", c.tile_s);
  });
  // o and the scores in binary32, p in 16 bits: registers of each of 128 threads.
  const int64_t registers = c.head_dim / 2 + c.tile_s / 2 + c.tile_s / 4;
  reasons.unless(registers <= 200, [&] {
    return fmt::format("registers for o, scores and p: got {}, need at most 200", registers);
  });
}

void check_cdna(const DecodeConfig& c, Reasons& reasons) {
  reasons.unless(c.group == 16,
                 [&] { return fmt::format("group: got {}, need 16 (columns of MFMA)", c.group); });
  reasons.unless(c.head_dim % 16 == 0 && c.head_dim <= 256, [&] {
    return fmt::format("head dim: got {}, need a multiple of 16 up to 256", c.head_dim);
  });
  reasons.unless(c.tile_s % 16 == 0 && c.tile_s <= 256, [&] {
    return fmt::format("tile s: got {}, need a multiple of 16 up to 256", c.tile_s);
  });
}

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// 1, and what fills the chip's slots about once, twice and four times.
std::vector<int64_t> part_counts(int64_t units, int64_t tiles, int64_t slots) {
  std::vector<int64_t> counts = {1};
  for (const int64_t waves : {1, 2, 4}) {
    const int64_t parts = std::min({waves * slots / units, tiles, kMaxParts});
    if (parts > counts.back()) {
      counts.push_back(parts);
    }
  }
  return counts;
}

}  // namespace

Result<void> check_decode(const DecodeConfig& c) {
  Reasons reasons;
  reasons.unless(c.head_dim > 0 && c.group > 0 && c.tile_s > 0 && c.ctas_per_sm > 0, [] {
    return std::string("sizes: got one that is not positive, need all of them positive");
  });
  reasons.unless(c.dtype == DType::BF16 || c.dtype == DType::F16,
                 [&] { return fmt::format("type: got {}, need bf16 or f16", name(c.dtype)); });
  reasons.unless(c.ring >= 1, [&] { return fmt::format("ring: got {}, need at least 1", c.ring); });
  reasons.unless(c.parts >= 1 && c.parts <= kMaxParts,
                 [&] { return fmt::format("parts: got {}, need 1 to {}", c.parts, kMaxParts); });
  if (c.target == Target::Sm90a) {
    check_hopper(c, reasons);
  } else {
    check_cdna(c, reasons);
  }
  return reasons.none() ? Result<void>() : reasons.result("decode_attention", kernel_name(c));
}

std::vector<DecodeConfig> decode_configs(const DecodeExtents& extents,
                                         const machine::Chip& chip,
                                         const DecodeConfig& base) {
  std::vector<DecodeConfig> found;
  DecodeConfig config = base;
  config.group = base.target == Target::Sm90a ? 64 : 16;
  for (const int64_t tile_s : {32, 64, 128}) {
    for (const int64_t ctas : {1, 2, 3}) {
      config.tile_s = tile_s;
      config.ctas_per_sm = ctas;
      config.parts = 1;
      config.ring = 2;
      const Result<Program> two = decode_attention_program(config);
      config.ring = two.ok() ? deepest_ring(*two, chip, ctas, kMaxRing) : 0;
      if (config.ring < 2) {
        continue;
      }
      const int64_t slots = chip.core.count * ctas;
      const int64_t units = std::max<int64_t>(1, extents.b * extents.h);
      for (const int64_t parts : part_counts(units, ceil_div(extents.s, tile_s), slots)) {
        config.parts = parts;
        if (decode_attention_program(config).ok()) {
          found.push_back(config);
        }
      }
    }
  }
  return found;
}

}  // namespace orrery::kernel
