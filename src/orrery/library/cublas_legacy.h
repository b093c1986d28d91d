// cuBLAS' older kernels: fp32 on the vector lanes, mma.sync for odd alignment, xmma for tf32.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/library/call.h"
#include "orrery/library/family.h"
#include "orrery/library/split_sum.h"
#include "orrery/machine/machine.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

// nvjet needs operands of 16 bits or less whose rows are multiples of 16 bytes. cuBLAS serves the
// rest with kernels of earlier generations, which a profiler shows by name:
//
//     fp32    sm80_xmma_gemm_f32f32_.._tilesize128x128x8_stage3_.._ffma, cutlass_80_simt_sgemm
//     odd     cutlass_75_tensorop_s1688gemm_bf16_128x128_tn_align1, cutlass_80_.._align2, wmma
//     tf32    cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align4, sm90_xmma_gemm_.._tf32f32
//
// All but the last share one structure, and so one set of constants. A CTA owns a tile of C and
// walks k in steps. A step copies operands to shared memory (by loads of 2, 4 or 16 bytes a lane:
// the narrower, the more instructions), then multiplies from there: on the vector lanes, whose
// operands come by LDS (a thread with 8 x 4 outputs loads 12 values for 32 FMA), or by mma.sync.
// With one warp on each scheduler, nothing hides a warp's own latencies, so a CTA alone on its SM
// is slower than its share of a full SM: its step is a chain of copy, product and wait.
//
// Small grids are cut along k into slices, of which a second kernel adds the partial results, one
// CTA a tile or one thread an element; large grids that fill their last wave badly are cut into
// slices that add to C one after the other, kept in order by counters that a memset clears.

/// How a kernel multiplies.
enum class Engine {
  Lanes,     // fp32 FMA, operands by LDS
  Warp,      // mma.sync
  Warpgroup  // wgmma
};

/// How the slices of a product that is cut along k come together.
enum class Slices {
  Whole,      // not cut
  ByTile,     // execute_split_k_kernel: CTAs of the tile's shape walk the slices
  ByElement,  // cublasLt::splitKreduce_kernel: a thread walks the slices of an element
  InPlace     // each slice adds to C after the one before
};

/// A kernel as its name and launch tell.
struct LegacyKernel {
  std::string name;  // "sm80_xmma_ffma 64x64x8_3"
  Engine engine = Engine::Warp;
  int64_t tile_m = 0;  // rows of C
  int64_t tile_n = 0;
  int64_t step = 0;  // of k
  int64_t stages = 0;
  int64_t threads = 0;
  int64_t registers = 0;
  double shared = 0;     // bytes of a CTA
  int64_t thread_m = 0;  // outputs of a thread: Engine::Lanes
  int64_t thread_n = 0;
  double access = 16;              // bytes of one lane's copy into shared memory
  Slices sum = Slices::ByElement;  // when cut
};

/// What the kernels have in common.
struct LegacyConstants {
  double warp_share = 1;             // of the chip's matrix rate: mma.sync
  double group_share = 1;            // wgmma
  double lane_copy = 0;              // instructions of a warp's copy of 32 values, Engine::Lanes
  double warp_copy = 0;              // of a warp's copy of 32 pieces, Engine::Warp
  double prologue = 0;               // clocks of a CTA beside its steps and its stores
  double epilogue_instructions = 0;  // warp-lane instructions per byte of the tile of C
  Duration group_fixed;
  Duration tile_sum_fixed;
  double tile_sum_access = 0;
  SplitSum element_sum;
};

/// A product as these kernels see it.
struct LegacyProblem {
  const GemmCall& call;
  const machine::Chip& chip;
  double in = 4;   // bytes of an element of A and B
  double out = 4;  // of C
};

/// One way to launch a kernel.
struct LegacyOption {
  const LegacyKernel* kernel = nullptr;
  int64_t slices = 1;
  Slices sum = Slices::Whole;
};

/// The ways that the library may take: every kernel whole, cut so that 1 to 4 slices fill an SM, or
/// cut in place.
std::vector<LegacyOption> legacy_options(const std::vector<const LegacyKernel*>& kernels,
                                         const LegacyProblem& problem);

/// The kernels that one way launches.
std::vector<kernel::Profile> legacy_profiles(const LegacyOption& option,
                                             const LegacyProblem& problem,
                                             const LegacyConstants& constants);

/// One row of A: the kernels that walk B once, a few outputs a CTA.
std::vector<kernel::Profile> one_row_kernels(const LegacyProblem& problem,
                                             const LegacyConstants& constants);

/// CTAs of `kernel` that an SM holds.
int64_t legacy_residents(const LegacyKernel& kernel, const machine::Core& core);

/// Tiles of C, with the batch.
double legacy_tiles(const LegacyKernel& kernel, const GemmCall& call);

/// Section "legacy": GEMMs of fp32, tf32 and int8, and those of bf16 and fp16 whose rows are not
/// multiples of 16 bytes.
std::unique_ptr<Family> read_cublas_legacy(machine::NumberFile& file);

}  // namespace orrery::library
