// The GEMM family: which configurations do not exist, and why.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>

#include "orrery/kernel/family/gemm_internal.h"
#include "orrery/kernel/family/reasons_internal.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kWarpgroup = 4;
constexpr int64_t kOverheadRegisters =
    32;  // addresses, barriers, loop state beside the accumulator

void check_common(const GemmConfig& c, Reasons& reasons) {
  const bool positive = c.tile_m > 0 && c.tile_n > 0 && c.tile_k > 0 && c.ring > 0 && c.warps > 0 &&
                        c.column_warps > 0 && c.cluster_m > 0 && c.cluster_n > 0 && c.group > 0 &&
                        c.parts > 0 && c.store_ring > 0 && c.pad >= 0 && c.ctas_per_sm > 0;
  reasons.unless(positive, [&] {
    return std::string("sizes: got one that is not positive, need all of them positive");
  });
  reasons.unless(c.dtype == DType::BF16 || c.dtype == DType::F16,
                 [&] { return fmt::format("type: got {}, need bf16 or f16", name(c.dtype)); });
  reasons.unless(c.ring >= 2, [&] { return fmt::format("ring: got {}, need at least 2", c.ring); });
  reasons.unless(c.parts == 1 || c.cluster_m * c.cluster_n == 1,
                 [&] { return fmt::format("parts with a cluster: got {}, need 1", c.parts); });
}

/// Columns of C leave in panels of 32 or 64 elements; a transposed store writes 8 x 8 blocks, two
/// at a time.
bool can_stage(const GemmConfig& c) {
  return c.swapped ? c.tile_n % 64 == 0 && (c.tile_m == 8 || c.tile_m % 16 == 0)
                   : c.tile_n % 32 == 0;
}

void check_cluster(const GemmConfig& c, Reasons& reasons) {
  reasons.unless((c.cluster_m == 1 && (c.cluster_n == 1 || c.cluster_n == 2)) ||
                     (c.cluster_m == 2 && c.cluster_n == 1),
                 [&] {
                   return fmt::format("cluster: got {} x {}, need 1 x 1, 2 x 1 or 1 x 2",
                                      c.cluster_m,
                                      c.cluster_n);
                 });
  // Each CTA loads its share of the common tile, in whole swizzle atoms of 8 rows.
  reasons.unless(c.cluster_m != 2 || c.tile_n % 16 == 0, [&] {
    return fmt::format("tile n shared by a cluster: got {}, need a multiple of 16", c.tile_n);
  });
  reasons.unless(c.cluster_n != 2 || c.tile_m % 16 == 0, [&] {
    return fmt::format("tile m shared by a cluster: got {}, need a multiple of 16", c.tile_m);
  });
}

void check_hopper(const GemmConfig& c, const GemmSides& sides, Reasons& reasons) {
  reasons.unless(c.warps == 4 || c.warps == 8, [&] {
    return fmt::format("warps: got {}, need 4 or 8 (one or two warpgroups)", c.warps);
  });
  reasons.unless(c.column_warps == 1,
                 [&] { return fmt::format("column warps: got {}, need 1", c.column_warps); });
  reasons.unless(c.tile_k % 64 == 0,
                 [&] { return fmt::format("tile k: got {}, need a multiple of 64", c.tile_k); });
  const int64_t rows = 16 * c.warps;
  reasons.unless(sides.rows.tile % rows == 0, [&] {
    return fmt::format("tile {}: got {}, need a multiple of {} (64 rows a warpgroup)",
                       c.swapped ? "n" : "m",
                       sides.rows.tile,
                       rows);
  });
  const int64_t columns = sides.columns.tile;
  reasons.unless(columns % 8 == 0 && columns <= 512 && (columns <= 256 || columns % 16 == 0), [&] {
    return fmt::format("tile {}: got {}, need a multiple of 8 up to 256, or of 16 up to 512",
                       c.swapped ? "m" : "n",
                       columns);
  });
  reasons.unless(c.parts > 1 || can_stage(c), [&] {
    return fmt::format(
        "staged store: got {} x {}{}, need tile n a multiple of 32 (swapped: of "
        "64, and tile m 8 or a multiple of 16)",
        c.tile_m,
        c.tile_n,
        c.swapped ? " swapped" : "");
  });
  const int64_t accumulator = c.tile_m * c.tile_n / (32 * c.warps);
  const int64_t budget = (c.warps > kWarpgroup ? 232 : 255) - kOverheadRegisters;
  reasons.unless(accumulator <= budget, [&] {
    return fmt::format(
        "accumulator registers a thread: got {}, need at most {}", accumulator, budget);
  });
  reasons.unless(c.warps == kWarpgroup || c.ctas_per_sm == 1, [&] {
    return fmt::format("CTAs per SM with two warpgroups: got {}, need 1", c.ctas_per_sm);
  });
  check_cluster(c, reasons);
}

void check_cdna(const GemmConfig& c, const GemmSides& sides, Reasons& reasons) {
  const MmaShape shape = sides.instruction;
  reasons.unless(check_mma_shape(c.target, shape, c.dtype).ok(), [&] {
    return fmt::format(
        "instruction: got m{}n{}k{}, need m32n32k8 or m16n16k16", shape.m, shape.n, shape.k);
  });
  reasons.unless(c.warps % c.column_warps == 0, [&] {
    return fmt::format("column warps: got {}, need a divisor of {}", c.column_warps, c.warps);
  });
  const int64_t rows = shape.m * sides.rows.warps;
  const int64_t columns = shape.n * sides.columns.warps;
  reasons.unless(rows > 0 && sides.rows.tile % rows == 0 && sides.columns.tile % columns == 0, [&] {
    return fmt::format("tile: got {} x {}, need multiples of {} x {} (instruction x warps)",
                       sides.rows.tile,
                       sides.columns.tile,
                       rows,
                       columns);
  });
  reasons.unless(c.tile_k % 8 == 0 && c.tile_k % shape.k == 0, [&] {
    return fmt::format("tile k: got {}, need a multiple of 8 and of {}", c.tile_k, shape.k);
  });
  reasons.unless(c.pad % 4 == 0,
                 [&] { return fmt::format("pad: got {}, need a multiple of 4", c.pad); });
  reasons.unless(c.cluster_m == 1 && c.cluster_n == 1, [&] {
    return fmt::format(
        "cluster: got {} x {}, need 1 x 1 (no clusters on gfx942)", c.cluster_m, c.cluster_n);
  });
}

}  // namespace

Result<void> check_gemm(const GemmConfig& config) {
  Reasons positive;
  check_common(config, positive);
  if (!positive.none()) {
    return positive.result("gemm", kernel_name(config));
  }
  Reasons reasons;
  const GemmSides sides = gemm_sides(config);
  if (config.target == Target::Sm90a) {
    check_hopper(config, sides, reasons);
  } else {
    check_cdna(config, sides, reasons);
  }
  return reasons.none() ? Result<void>() : reasons.result("gemm", kernel_name(config));
}

}  // namespace orrery::kernel
