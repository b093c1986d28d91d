// The GEMM family: C[m, n] = epilogue(A[m, k] B[n, k]^T), for 16-bit types.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"
#include "orrery/kernel/family/epilogue.h"
#include "orrery/kernel/program.h"
#include "orrery/machine/machine.h"

namespace orrery::kernel {

// The skeleton, in three phases:
//
//     once      acc = 0
//     loop k    a <- A, b <- B (a ring of tiles in shared memory);  acc += a b
//     once      c = epilogue(acc);  C <- c
//
// On **sm_90a** the loads are a producer's (one elected thread of tensor copies), the products
// those of one or two consumer warpgroups, each with its own block of rows; c leaves through a
// staging buffer and a tensor store. With a cluster of two along one axis the operand that lacks
// this axis is loaded once for both (multicast). `k` blocks are cut into panels of 64 elements (128
// bytes, one swizzle atom). On **gfx942** four waves do everything: they prefetch the ring (LDS)
// one tile ahead and multiply with MFMA; c is stored straight from the accumulator's registers.
//
// **Swapped.** The instruction has 64 rows (32 on gfx942) but as few columns as 8. For small m the
// weights B lie on its rows and the tokens A on its columns: the accumulator is [n, m], nothing
// else changes.
//
// **Parts.** With few tiles the walk over k is divided among `parts` units (split-K). Each writes
// its binary32 partial tile into P[part, m, n], and `gemm_combine_program` sums the parts,
// ascending, and applies the epilogue.
//
// Extents: m, n, k. Promised multiples: 8 for k and n (16-byte rows, which tensor copies need).

/// One kernel of the family. Impossible combinations are refused by gemm_program with the reason.
struct GemmConfig {
  Target target = Target::Sm90a;
  DType dtype = DType::BF16;  // of A, B and C
  int64_t tile_m = 128;
  int64_t tile_n = 256;
  int64_t tile_k = 64;
  int64_t ring = 4;  // tiles of k in shared memory
  bool swapped = false;
  int64_t warps = 8;          // that multiply: 4 or 8 on sm_90a (one or two warpgroups)
  int64_t column_warps = 1;   // of them, along the instruction's columns (gfx942 only; sm_90a: 1)
  MmaShape instruction = {};  // gfx942: left out, m32n32k8; sm_90a: follows from the tile
  int64_t cluster_m = 1;      // 1 or 2, at most one of the two above 1
  int64_t cluster_n = 1;
  int64_t group = 8;  // raster: bands of so many tiles of the first axis
  bool persistent = true;
  int64_t parts = 1;
  int64_t store_ring = 2;   // staging buffers of the store (sm_90a)
  int64_t pad = 8;          // LDS rows are padded by so many elements (gfx942)
  int64_t ctas_per_sm = 1;  // for which registers are budgeted
  Epilogue epilogue{};

  bool operator==(const GemmConfig&) const = default;
};

/// "gemm_bf16_128x256x64_r4_m2": what a profiler shows.
std::string kernel_name(const GemmConfig& config);

/// Cost: some microseconds. Errors: InvalidInput with every reason that holds.
Result<Program> gemm_program(const GemmConfig& config);

/// C[m, n] = epilogue(sum over part of P[part, m, n]) for a config with parts > 1.
Result<Program> gemm_combine_program(const GemmConfig& config);

/// Configurations worth timing for these extents on this chip: those that fit, tens of them, in a
/// fixed order. The epilogue is `base`'s, and so are target and type.
struct GemmExtents {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

std::vector<GemmConfig> gemm_configs(const GemmExtents& extents,
                                     const machine::Chip& chip,
                                     const GemmConfig& base);

}  // namespace orrery::kernel
